"""Chat completions: messages with content parts, as OpenAI and vLLM write them."""

from typing import Any

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.media_reader import Place
from forebay.intake.members import Members
from forebay.intake.part_urls import check_part_urls
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["messages", "tools", "functions", "response_format", "images", "audios", "videos"])


_ABSENT = msgspec.Raw(b"")


class _Url(msgspec.Struct, gc=False):
    url: str | None = None
    detail: Any = None  # what is no string is left to the engine to refuse


class _Audio(msgspec.Struct, gc=False):
    data: str | None = None
    format: str | None = None


class _File(msgspec.Struct, gc=False):
    file_data: str | None = None


class _Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    image_url: _Url | str | None = None
    audio_url: _Url | str | None = None
    video_url: _Url | str | None = None
    input_audio: _Audio | None = None
    file: _File | None = None


class _Message(msgspec.Struct, gc=False):
    role: str | None = None
    content: str | list[_Part | str] | msgspec.UnsetType | None = msgspec.UNSET
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
_URL_PARTS = (("image_url", Ability.IMAGE), ("audio_url", Ability.AUDIO), ("video_url", Ability.VIDEO))
_WORDS = (("image", Ability.IMAGE), ("audio", Ability.AUDIO), ("video", Ability.VIDEO))


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
    raw_parts: _RawParts, prompt: Prompt, index: int, content: str | list[_Part | str] | None
) -> None:
    if content is None or isinstance(content, str):
        prompt.text(content)
        return
    prompt.holds_parts = True
    path = f"messages[{index}].content"
    check_part_urls(raw_parts.content(index), prompt.url_settings, path)
    for part_index, part in enumerate(content):
        _read_part(raw_parts, prompt, Place(index, part_index, f"{path}[{part_index}]"), part)


def _read_part(raw_parts: _RawParts, prompt: Prompt, place: Place, part: _Part | str) -> None:
    if isinstance(part, str):
        prompt.text(part)
        return
    prompt.text(part.text)
    if not _read_media(prompt, place, part) and part.text is None:
        _read_unknown(raw_parts, prompt, place, part)


def _read_media(prompt: Prompt, place: Place, part: _Part) -> bool:
    """Read every medium that is known, and tell whether there is one: which of several an engine takes is its choice."""
    before = prompt.keys_read
    for key, modality in _URL_PARTS:
        source = getattr(part, key)
        url, detail = (source.url, source.detail) if isinstance(source, _Url) else (source, None)
        if url is not None:
            prompt.keys_read += 1
            prompt.url(modality, url, place, detail if isinstance(detail, str) else "")
    if part.input_audio is not None and part.input_audio.data is not None:
        prompt.keys_read += 1
        prompt.data(Ability.AUDIO, part.input_audio.data, f"audio/{part.input_audio.format or ''}", place)
    if part.file is not None and part.file.file_data is not None:
        prompt.keys_read += 1
        read_file(prompt, part.file.file_data, place)
    return prompt.keys_read > before


def read_file(prompt: Prompt, data: str, place: Place) -> None:
    """Read a file: a medium by its declared type, else a document."""
    declared = data[:64].lower()
    for word, modality in _WORDS:
        if declared.startswith(f"data:{word}/"):
            prompt.url(modality, data, place)
            return
    prompt.document(data)


def _read_unknown(raw_parts: _RawParts, prompt: Prompt, place: Place, part: _Part) -> None:
    """Read a part that is not known here: as its modality when it names one, else its JSON as text."""
    kind = part.type or ""
    for word, modality in _WORDS:
        if word in kind:
            prompt.unseen(modality, place)
            return
    if part.refusal is not None:
        prompt.text(part.refusal)
    elif kind == "file":
        prompt.document("")
    else:
        prompt.json(raw_parts.part(place))
