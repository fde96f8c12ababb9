"""Pooling, vLLM's: an input, as for embeddings, or messages."""

from forebay.domain.request import Api
from forebay.intake.classify import SENSITIVE, read_input
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm

FORM = JsonForm(Api.POOLING, read_input, COMMON | SENSITIVE, replies=Replies.TYPED, paths=("/v1/pooling",))
