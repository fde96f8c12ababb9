"""OpenAI's Responses: instructions, tools, and an input of text or of items.

An engine keeps its responses, so that another may go on from one by its id. The id that clients see names the engine.
"""

import msgspec

from forebay.domain.request import Api
from forebay.intake.content import read_value
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.media_reader import Place
from forebay.intake.members import Members
from forebay.intake.part_urls import check_part_urls
from forebay.intake.parts import Part, read_part
from forebay.intake.prompt import Prompt
from forebay.intake.refusal import bad_request

SENSITIVE = frozenset(
    ["input", "instructions", "tools", "text", "previous_response_id", "max_output_tokens", "conversation"]
)

_ABSENT = msgspec.Raw(b"")


class _Item(msgspec.Struct, gc=False):
    """A message, or a call, its output, or what else a model has said. What is encrypted is no prompt text here."""

    type: str | None = None
    role: str | None = None
    content: str | list[Part | str] | msgspec.UnsetType | None = msgspec.UNSET
    summary: list[Part | str] | None = None
    name: str | None = None
    arguments: str | None = None
    output: msgspec.Raw = _ABSENT


_INPUT = msgspec.json.Decoder(str | list[_Item | str])
_RAW_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
_PROMPT_JSON = ("tools", "text")


def read_responses(members: Members, prompt: Prompt) -> None:
    """Read the whole prompt, without what the engine keeps of earlier responses. Raises a Refusal."""
    if members.raw("conversation"):
        message = (
            "conversations are kept by one engine, and their ids do not tell which: use previous_response_id"
        )
        raise bad_request("unsupported_parameter", message, "conversation")
    for key in _PROMPT_JSON:
        prompt.json(members.raw(key))
    instructions = members.get("instructions", _TEXT)
    if instructions:
        prompt.turn("system")
        prompt.text(instructions)
    given = members.get("input", _INPUT)
    if isinstance(given, str):
        prompt.turn("user")
        prompt.text(given)
    elif given is not None:
        raw = members.raw("input")
        check_part_urls(raw, prompt.url_settings, "input")
        for index, item in enumerate(given):
            _read_item(prompt, raw, index, item)


def _read_item(prompt: Prompt, raw: bytes, index: int, item: _Item | str) -> None:
    if isinstance(item, str):
        prompt.turn("user")
        prompt.text(item)
        return
    prompt.turn(item.role or item.type or "")
    place = Place(index, 0, f"input[{index}]")
    prompt.text(item.name)
    prompt.text(item.arguments)
    if item.content is not msgspec.UNSET:
        prompt.keys_read += 1
        _read_content(prompt, raw, Place(index, 0, f"{place.path}.content"), item.content)
    _read_content(prompt, raw, Place(index, 0, f"{place.path}.summary"), item.summary)
    if item.output:
        output = msgspec.json.decode(item.output)
        read_value(prompt, output, Place(index, 0, f"{place.path}.output"))


def _read_content(prompt: Prompt, raw: bytes, place: Place, content: str | list[Part | str] | None) -> None:
    if content is None or isinstance(content, str):
        prompt.text(content)
        return
    prompt.holds_parts = True
    for index, part in enumerate(content):
        here = Place(place.message_index, index, f"{place.path}[{index}]")
        if isinstance(part, str):
            prompt.text(part)
        elif not read_part(prompt, here, part):
            _read_unknown(prompt, raw, here)


def _read_unknown(prompt: Prompt, raw: bytes, place: Place) -> None:
    """A part that is not known here is text as far as can be told. Its item's JSON bounds it from above."""
    prompt.json(bytes(_RAW_ITEMS.decode(raw)[place.message_index]))


FORM = JsonForm(
    Api.RESPONSES,
    read_responses,
    COMMON | SENSITIVE,
    bounds=("max_output_tokens",),
    replies=Replies.RESPONSES,
    goes_on="previous_response_id",
)
