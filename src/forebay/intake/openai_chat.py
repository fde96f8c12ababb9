"""Chat completions: messages with content parts, as OpenAI and vLLM write them."""

from typing import Any

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.media_reader import Place
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["messages", "tools", "functions", "response_format", "images", "audios", "videos"])


_ABSENT = msgspec.Raw(b"")


class _Url(msgspec.Struct, gc=False):
    url: str | None = None


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
    content: str | list[_Part | str] | None = None
    name: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: msgspec.Raw = _ABSENT
    function_call: msgspec.Raw = _ABSENT


_MESSAGES = msgspec.json.Decoder(list[_Message])
_URLS = msgspec.json.Decoder(list[str])
_PROMPT_JSON = ("tools", "functions", "response_format")
# SGLang's omni server takes media beside the messages.
_TOP_LEVEL_MEDIA = (("images", Ability.IMAGE), ("audios", Ability.AUDIO), ("videos", Ability.VIDEO))
_URL_PARTS = (("image_url", Ability.IMAGE), ("audio_url", Ability.AUDIO), ("video_url", Ability.VIDEO))
_WORDS = (("image", Ability.IMAGE), ("audio", Ability.AUDIO), ("video", Ability.VIDEO))


def read_chat(members: Members, prompt: Prompt) -> None:
    """Read `messages` and what else goes into the prompt. Raises a Refusal."""
    for key in _PROMPT_JSON:
        prompt.json(members.raw(key))
    messages = members.get("messages", _MESSAGES)
    for index, message in enumerate(messages or ()):
        _read_message(members, prompt, index, message)
    for key, modality in _TOP_LEVEL_MEDIA:
        urls = members.get(key, _URLS)
        for index, url in enumerate(urls or ()):
            prompt.url(modality, url, Place(-1, index, f"{key}[{index}]"))


def _read_message(members: Members, prompt: Prompt, index: int, message: _Message) -> None:
    prompt.turn(message.role or "")
    prompt.text(message.name)
    prompt.text(message.reasoning_content or message.reasoning)
    if isinstance(message.content, str):
        prompt.text(message.content)
    elif message.content is not None:
        for part_index, part in enumerate(message.content):
            _read_part(
                members, prompt, Place(index, part_index, f"messages[{index}].content[{part_index}]"), part
            )
    prompt.text(message.refusal)
    prompt.json(bytes(message.tool_calls))
    prompt.json(bytes(message.function_call))


def _read_part(members: Members, prompt: Prompt, place: Place, part: _Part | str) -> None:
    if isinstance(part, str):
        prompt.text(part)
        return
    prompt.text(part.text)
    if not _read_media(prompt, place, part) and part.text is None:
        _read_unknown(members, prompt, place, part)


def _read_media(prompt: Prompt, place: Place, part: _Part) -> bool:
    """Read the part's medium, if it has one that is known."""
    for key, modality in _URL_PARTS:
        source = getattr(part, key)
        url = source.url if isinstance(source, _Url) else source
        if url is not None:
            prompt.url(modality, url, place)
            return True
    if part.input_audio is not None and part.input_audio.data is not None:
        prompt.data(Ability.AUDIO, part.input_audio.data, f"audio/{part.input_audio.format or ''}", place)
        return True
    if part.file is not None and part.file.file_data is not None:
        read_file(prompt, part.file.file_data, place)
        return True
    return False


def read_file(prompt: Prompt, data: str, place: Place) -> None:
    """Read a file: a medium by its declared type, else a document."""
    declared = data[:64].lower()
    for word, modality in _WORDS:
        if declared.startswith(f"data:{word}/"):
            prompt.url(modality, data, place)
            return
    prompt.document(data)


def _read_unknown(members: Members, prompt: Prompt, place: Place, part: _Part) -> None:
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
        prompt.json(_raw_part(members, place))


def _raw_part(members: Members, place: Place) -> bytes:
    messages: Any = msgspec.json.decode(members.raw("messages"))
    return msgspec.json.encode(messages[place.message_index]["content"][place.part_index])
