"""Chat completions: messages with content parts, as OpenAI and vLLM write them."""

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.media_reader import Place
from forebay.intake.members import Members
from forebay.intake.part_urls import check_part_urls
from forebay.intake.parts import Part, read_part
from forebay.intake.plain_chat import understand_plain
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["messages", "tools", "functions", "response_format", "images", "audios", "videos"])


_ABSENT = msgspec.Raw(b"")


class _Message(msgspec.Struct, gc=False):
    role: str | None = None
    content: str | list[Part | str] | msgspec.UnsetType | None = msgspec.UNSET
    name: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: msgspec.Raw = _ABSENT
    function_call: msgspec.Raw = _ABSENT


class _RawMessage(msgspec.Struct, gc=False):
    content: msgspec.Raw = _ABSENT


_MESSAGES = msgspec.json.Decoder(list[_Message])
_RAW_MESSAGES = msgspec.json.Decoder(list[_RawMessage])
_RAW_PARTS = msgspec.json.Decoder(list[msgspec.Raw])
_URLS = msgspec.json.Decoder(list[str])
_PROMPT_JSON = ("tools", "functions", "response_format")
# SGLang's omni server takes media beside the messages.
_TOP_LEVEL_MEDIA = (("images", Ability.IMAGE), ("audios", Ability.AUDIO), ("videos", Ability.VIDEO))


class _RawParts:
    """The JSON of the parts, split when the first is asked for, and once."""

    __slots__ = ("_contents", "_messages", "_parts")

    def __init__(self, messages: bytes) -> None:
        self._messages = messages
        self._contents: list[_RawMessage] | None = None
        self._parts: dict[int, list[msgspec.Raw]] = {}

    def content(self, message_index: int) -> bytes:
        if self._contents is None:
            self._contents = _RAW_MESSAGES.decode(self._messages)
        return bytes(self._contents[message_index].content)

    def part(self, place: Place) -> bytes:
        parts = self._parts.get(place.message_index)
        if parts is None:
            parts = self._parts[place.message_index] = _RAW_PARTS.decode(self.content(place.message_index))
        return bytes(parts[place.part_index])


def read_chat(members: Members, prompt: Prompt) -> None:
    """Read `messages` and what else goes into the prompt. Raises a Refusal."""
    for key in _PROMPT_JSON:
        prompt.json(members.raw(key))
    messages = members.get("messages", _MESSAGES)
    raw_parts = _RawParts(members.raw("messages"))
    for index, message in enumerate(messages or ()):
        _read_message(raw_parts, prompt, index, message)
    for key, modality in _TOP_LEVEL_MEDIA:
        urls = members.get(key, _URLS)
        for index, url in enumerate(urls or ()):
            prompt.url(modality, url, Place(-1, index, f"{key}[{index}]"))


def _read_message(raw_parts: _RawParts, prompt: Prompt, index: int, message: _Message) -> None:
    prompt.turn(message.role or "")
    prompt.text(message.name)
    prompt.text(message.reasoning_content or message.reasoning)
    if message.content is not msgspec.UNSET:
        prompt.keys_read += 1
        _read_content(raw_parts, prompt, index, message.content)
    prompt.text(message.refusal)
    prompt.json(bytes(message.tool_calls))
    prompt.json(bytes(message.function_call))


def _read_content(
    raw_parts: _RawParts, prompt: Prompt, index: int, content: str | list[Part | str] | None
) -> None:
    if content is None or isinstance(content, str):
        prompt.text(content)
        return
    prompt.holds_parts = True
    path = f"messages[{index}].content"
    check_part_urls(raw_parts.content(index), prompt.url_settings, path)
    for part_index, part in enumerate(content):
        _read_part(raw_parts, prompt, Place(index, part_index, f"{path}[{part_index}]"), part)


def _read_part(raw_parts: _RawParts, prompt: Prompt, place: Place, part: Part | str) -> None:
    if isinstance(part, str):
        prompt.text(part)
    elif not read_part(prompt, place, part):
        prompt.json(raw_parts.part(place))


FORM = JsonForm(
    Api.CHAT,
    read_chat,
    COMMON | SENSITIVE,
    bounds=("max_completion_tokens", "max_tokens"),
    choices=True,
    short=understand_plain,
)
