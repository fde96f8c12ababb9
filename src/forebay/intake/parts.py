"""Content parts, as OpenAI and vLLM write them, in chats, responses and wherever else they stand."""

from typing import Any

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.media_reader import Place
from forebay.intake.prompt import Prompt
from forebay.intake.refusal import bad_request


class _Url(msgspec.Struct, gc=False):
    url: str | None = None
    detail: Any = None  # what is no string is left to the engine to refuse


class _Audio(msgspec.Struct, gc=False):
    data: str | None = None
    format: str | None = None


class _File(msgspec.Struct, gc=False):
    file_data: str | None = None


class Part(msgspec.Struct, gc=False):
    """One content part. `file_data` and `file_url` are those of the Responses API, which writes no object for them."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    image_url: _Url | str | None = None
    audio_url: _Url | str | None = None
    video_url: _Url | str | None = None
    input_audio: _Audio | None = None
    file: _File | None = None
    file_data: str | None = None
    file_url: str | None = None
    detail: Any = None
    uuid: Any = None


_URL_PARTS = (("image_url", Ability.IMAGE), ("audio_url", Ability.AUDIO), ("video_url", Ability.VIDEO))
_WORDS = (("image", Ability.IMAGE), ("audio", Ability.AUDIO), ("video", Ability.VIDEO))
_SOURCES = frozenset(["image_url", "audio_url", "video_url", "input_audio"])
_FILE_KINDS = frozenset(["file", "input_file"])


def read_part(prompt: Prompt, place: Place, part: Part) -> bool:
    """Read a part, and tell whether it was known. Raises a Refusal.

    One that is not known here but names a modality counts as a medium that is not seen.
    """
    prompt.text(part.text)
    if part.uuid is not None:
        _read_uuid(prompt, place, part)
    return _read_media(prompt, place, part) or part.text is not None or _read_named(prompt, place, part)


def _read_uuid(prompt: Prompt, place: Place, part: Part) -> None:
    """VLLM's name of a medium for its caches. One without the medium can mean one that another client has sent."""
    prompt.uuids += 1
    alone = part.type in _SOURCES and getattr(part, part.type) is None
    if alone and not prompt.trusts_cache_keys:
        message = "a medium by its `uuid` alone is not taken (setting `intake.trust_cache_keys`): send it"
        raise bad_request("cache_key_not_trusted", message, place.path)


def _read_media(prompt: Prompt, place: Place, part: Part) -> bool:
    """Read every medium that is known, and tell whether there is one: which of several an engine takes is its choice."""
    before = prompt.keys_read
    for key, modality in _URL_PARTS:
        source = getattr(part, key)
        url, detail = (source.url, source.detail) if isinstance(source, _Url) else (source, part.detail)
        if url is not None:
            prompt.keys_read += 1
            prompt.url(modality, url, place, detail if isinstance(detail, str) else "")
    if part.input_audio is not None and part.input_audio.data is not None:
        prompt.keys_read += 1
        prompt.data(Ability.AUDIO, part.input_audio.data, f"audio/{part.input_audio.format or ''}", place)
    if part.file is not None:
        _read_file(prompt, part.file.file_data, place)
    if part.file_data is not None or part.file_url is not None:
        _read_file(prompt, part.file_data, place)
        _read_file(prompt, part.file_url, place)
    return prompt.keys_read > before


def _read_file(prompt: Prompt, data: str | None, place: Place) -> None:
    """Read a file: a medium by its declared type, else a document, which an engine may have to fetch."""
    if data is None:
        return
    prompt.keys_read += 1
    declared = data[:64].lower()
    for word, modality in _WORDS:
        if declared.startswith(f"data:{word}/"):
            prompt.url(modality, data, place)
            return
    prompt.document(data)


def _read_named(prompt: Prompt, place: Place, part: Part) -> bool:
    kind = part.type or ""
    for word, modality in _WORDS:
        if word in kind:
            prompt.unseen(modality, place)
            return True
    if part.refusal is not None:
        prompt.text(part.refusal)
        return True
    if kind in _FILE_KINDS:
        prompt.document("")
        return True
    return False
