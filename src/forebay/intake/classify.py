"""Classifying and pooling, vLLM's: an input, as for embeddings, or messages."""

from forebay.domain.request import Api
from forebay.intake import openai_chat
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["input", "data"]) | openai_chat.SENSITIVE


def read_input(members: Members, prompt: Prompt) -> None:
    """Read `input`, `data` or `messages`. Raises a Refusal."""
    read_content(members, prompt, "input", "data")
    openai_chat.read_chat(members, prompt)


FORM = JsonForm(Api.CLASSIFY, read_input, COMMON | SENSITIVE, replies=Replies.TYPED, paths=("/v1/classify",))
