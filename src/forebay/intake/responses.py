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

_REFUSED = {
    "conversation": "conversations are kept by one engine, and their ids do not tell which: use previous_response_id",
    # vLLM and SGLang make it the response's id: whoever names another's would have that response read out, or replaced.
    "request_id": "responses are named by their engine: use the header X-Request-Id to find a request in logs",
}
SENSITIVE = frozenset(
    ["input", "instructions", "tools", "text", "previous_response_id", "max_output_tokens", *_REFUSED]
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


class _RawItem(msgspec.Struct, gc=False):
    content: msgspec.Raw = _ABSENT
    summary: msgspec.Raw = _ABSENT


_INPUT = msgspec.json.Decoder(str | list[_Item | str])
_RAW_ITEMS = msgspec.json.Decoder(list[_RawItem | str])
_RAW_PARTS = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)
_PROMPT_JSON = ("tools", "text")


class _RawParts:
    """The JSON of the parts, split when the first is asked for, and once."""

    __slots__ = ("_input", "_items", "_parts")

    def __init__(self, raw: bytes) -> None:
        self._input = raw
        self._items: list[_RawItem | str] | None = None
        self._parts: dict[tuple[int, str], list[msgspec.Raw]] = {}

    def part(self, place: Place, key: str) -> bytes:
        parts = self._parts.get((place.message_index, key))
        if parts is None:
            parts = _RAW_PARTS.decode(self._list(place.message_index, key))
            self._parts[place.message_index, key] = parts
        return bytes(parts[place.part_index])

    def _list(self, item_index: int, key: str) -> msgspec.Raw:
        if self._items is None:
            self._items = _RAW_ITEMS.decode(self._input)
        raw: msgspec.Raw = getattr(self._items[item_index], key)
        return raw


def read_responses(members: Members, prompt: Prompt) -> None:
    """Read the whole prompt, without what the engine keeps of earlier responses. Raises a Refusal."""
    for key, message in _REFUSED.items():
        if members.raw(key):
            raise bad_request("unsupported_parameter", message, key)
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
        raw_parts = _RawParts(raw)
        for index, item in enumerate(given):
            _read_item(prompt, raw_parts, index, item)


def _read_item(prompt: Prompt, raw_parts: _RawParts, index: int, item: _Item | str) -> None:
    if isinstance(item, str):
        prompt.turn("user")
        prompt.text(item)
        return
    prompt.turn(item.role or item.type or "")
    prompt.text(item.name)
    prompt.text(item.arguments)
    if item.content is not msgspec.UNSET:
        prompt.keys_read += 1
        _read_content(prompt, raw_parts, index, "content", item.content)
    _read_content(prompt, raw_parts, index, "summary", item.summary)
    if item.output:
        output = msgspec.json.decode(item.output)
        read_value(prompt, output, Place(index, 0, f"input[{index}].output"))


def _read_content(
    prompt: Prompt, raw_parts: _RawParts, index: int, key: str, content: str | list[Part | str] | None
) -> None:
    if content is None or isinstance(content, str):
        prompt.text(content)
        return
    prompt.holds_parts = True
    for part_index, part in enumerate(content):
        place = Place(index, part_index, f"input[{index}].{key}[{part_index}]")
        if isinstance(part, str):
            prompt.text(part)
        elif not read_part(prompt, place, part):
            prompt.json(raw_parts.part(place, key))


FORM = JsonForm(
    Api.RESPONSES,
    read_responses,
    COMMON | SENSITIVE,
    bounds=("max_output_tokens",),
    replies=Replies.RESPONSES,
    goes_on="previous_response_id",
)
