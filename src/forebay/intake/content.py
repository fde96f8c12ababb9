"""Content of APIs that have no messages: texts, token ids, objects and content parts, in lists of any depth."""

from typing import Any

import msgspec

from forebay.intake.media_reader import Place
from forebay.intake.members import Members
from forebay.intake.part_urls import check_part_urls
from forebay.intake.parts import Part, read_part
from forebay.intake.prompt import Prompt
from forebay.intake.refusal import bad_request

# Keys of a part's media. What has one is no text, however it names its type.
_MEDIA_KEYS = frozenset(
    ["image_url", "audio_url", "video_url", "input_audio", "file", "file_data", "file_url"]
)
_MEDIA_KINDS = ("image", "audio", "video", "file")


def read_content(members: Members, prompt: Prompt, *keys: str) -> None:
    """Read what stands under `keys`, in that order. Raises a Refusal."""
    for key in keys:
        raw = members.raw(key)
        if raw:
            check_part_urls(b"[%b]" % raw, prompt.url_settings, key)
            read_value(prompt, msgspec.json.decode(raw), Place(-1, 0, key))


def read_value(prompt: Prompt, value: Any, place: Place) -> None:
    """Read one value that was decoded: text as text, parts as parts. Raises a Refusal."""
    if isinstance(value, str):
        prompt.text(value)
    elif isinstance(value, list):
        _read_list(prompt, value, place)
    elif isinstance(value, dict):
        _read_object(prompt, value, place)


def _read_list(prompt: Prompt, values: list[Any], place: Place) -> None:
    ids = [value for value in values if isinstance(value, int)]
    if ids:
        prompt.tokens(ids)
    for index, value in enumerate(values):
        read_value(prompt, value, Place(place.message_index, index, f"{place.path}[{index}]"))


def _read_object(prompt: Prompt, value: dict[str, Any], place: Place) -> None:
    prompt.holds_parts = True
    if _is_medium(value):
        read_part(prompt, place, _as_part(value, place))
        return
    for key, inner in value.items():
        prompt.keys_read += key == "content"
        if key not in {"type", "role", "id"}:
            read_value(prompt, inner, Place(place.message_index, place.part_index, f"{place.path}.{key}"))


def _is_medium(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    named = isinstance(kind, str) and any(word in kind for word in _MEDIA_KINDS)
    return named or not _MEDIA_KEYS.isdisjoint(value)


def _as_part(value: dict[str, Any], place: Place) -> Part:
    try:
        return msgspec.convert(value, Part)
    except msgspec.ValidationError as fault:
        raise bad_request("invalid_type", str(fault), place.path) from None
