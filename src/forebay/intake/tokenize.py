"""Tokens of a text: vLLM's `prompt` or `messages`, llama.cpp's and SGLang's `content` or `text`. Nothing is computed of them."""

from forebay.domain.request import Api
from forebay.intake import openai_chat
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["prompt", "content", "text"]) | openai_chat.SENSITIVE


def read_text(members: Members, prompt: Prompt) -> None:
    """Read the text, or the messages. Raises a Refusal."""
    read_content(members, prompt, "prompt", "content", "text")
    openai_chat.read_chat(members, prompt)


FORM = JsonForm(Api.TOKENIZE, read_text, COMMON | SENSITIVE, replies=Replies.TYPED, paths=("/v1/tokenize",))
