"""Counting the tokens of Anthropic messages, without an answer. Engines that serve messages often serve this too."""

from forebay.domain.request import Api
from forebay.intake import anthropic
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm

FORM = JsonForm(
    Api.COUNT_TOKENS, anthropic.read_messages, COMMON | anthropic.SENSITIVE, replies=Replies.MESSAGES
)
