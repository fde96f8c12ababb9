"""Completions: one prompt or several, as text or as token ids."""

import msgspec

from forebay.domain.request import Api
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["prompt", "suffix"])

_PROMPT = msgspec.json.Decoder(str | list[str | int | list[int]])
_SUFFIX = msgspec.json.Decoder(str)


def read_completion(members: Members, prompt: Prompt) -> None:
    """Read `prompt` and `suffix`. Raises a Refusal."""
    read_texts(members.get("prompt", _PROMPT), prompt)
    prompt.text(members.get("suffix", _SUFFIX))


def count_prompts(members: Members) -> int:
    """How many prompts there are: each is answered by itself."""
    return count_texts(members.get("prompt", _PROMPT))


def count_texts(given: str | list[str | int | list[int]] | None) -> int:
    """How many texts these are, at least 1. A list that begins with a token id is one."""
    if isinstance(given, list) and given and not isinstance(given[0], int):
        return len(given)
    return 1


def read_texts(given: str | list[str | int | list[int]] | None, prompt: Prompt) -> None:
    """Read text, texts, token ids, or lists of token ids. Ids count as the text that they stand for."""
    if isinstance(given, str):
        prompt.text(given)
    elif given is not None:
        ids = [item for item in given if isinstance(item, int)]
        if ids:
            prompt.tokens(ids)
        for item in given:
            if isinstance(item, str):
                prompt.text(item)
            elif isinstance(item, list):
                prompt.tokens(item)


FORM = JsonForm(
    Api.COMPLETIONS,
    read_completion,
    COMMON | SENSITIVE,
    bounds=("max_tokens",),
    prompts=count_prompts,
    choices=True,
)
