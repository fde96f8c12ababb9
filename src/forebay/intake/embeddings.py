"""Embeddings: texts, token ids, or, in vLLM's form, messages with content parts."""

import msgspec

from forebay.domain.request import Api
from forebay.intake import openai_chat
from forebay.intake.completions import count_texts, read_texts
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["input"]) | openai_chat.SENSITIVE

_INPUT = msgspec.json.Decoder(str | list[str | int | list[int]])


def read_embedding(members: Members, prompt: Prompt) -> None:
    """Read `input`, or `messages`. Raises a Refusal."""
    read_texts(members.get("input", _INPUT), prompt)
    openai_chat.read_chat(members, prompt)


def count_inputs(members: Members) -> int:
    """How many inputs there are: each is embedded by itself."""
    return count_texts(members.get("input", _INPUT))


FORM = JsonForm(Api.EMBEDDINGS, read_embedding, COMMON | SENSITIVE, prompts=count_inputs)
