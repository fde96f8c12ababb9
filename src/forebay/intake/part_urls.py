"""Addresses in content parts that are not read as media here: an engine that knows the part may fetch them."""

import re
from typing import Any

import msgspec

from forebay.intake.media.dataurl import is_data_url
from forebay.intake.media_urls import check_url
from forebay.intake.settings import MediaUrlSettings

_KEYS = frozenset(
    [
        *("url", "uri", "image", "audio", "video", "images", "audios", "videos", "file_data"),
        *("image_url", "audio_url", "video_url", "file_url", "input_image", "input_audio", "input_video"),
    ]
)
# What a model has called, found or quoted is text to an engine, whatever its keys.
_TEXT_KEYS = frozenset(["citations", "annotations"])
_TEXT_KINDS = frozenset(["tool_use", "server_tool_use", "mcp_tool_use", "web_search_result"])
_ADDRESS = re.compile(r"[\x00-\x20]*(?:[a-z][a-z0-9+.-]*:[/\\]|(?:https?|ftp|file):|[/\\]{2})", re.IGNORECASE)
# Bytes without which no string of a document is an address. Most documents without a slash need no search for them.
_HINT = re.compile(rb"[:/\\][/\\]|\\u00|(?:http|https|ftp|file):", re.IGNORECASE)
_SCHEMES = (b"http:", b"https:", b"ftp:", b"file:")


def check_part_urls(content: bytes, settings: MediaUrlSettings, path: str) -> None:
    """Check what looks like a URL and stands under a media key, at any depth of each part of `content`, its JSON.

    Raises a Refusal that names the part by its index below `path`.
    """
    if not _hints(content):
        return
    parts = msgspec.json.decode(content)
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        _check(part, settings, f"{path}[{index}]", keyed=False)


def _hints(content: bytes) -> bool:
    if b"/" in content or b"\\" in content:
        return _HINT.search(content) is not None
    lowered = content.lower()
    return any(scheme in lowered for scheme in _SCHEMES)


def _check(value: Any, settings: MediaUrlSettings, place: str, *, keyed: bool) -> None:
    if isinstance(value, str):
        if keyed and _is_address(value):
            check_url(value, settings, place)
    elif isinstance(value, list):
        for item in value:
            _check(item, settings, place, keyed=keyed)
    elif isinstance(value, dict) and value.get("type") not in _TEXT_KINDS:
        for key, item in value.items():
            if key not in _TEXT_KEYS:
                _check(item, settings, place, keyed=keyed or key in _KEYS)


def _is_address(string: str) -> bool:
    return ("://" in string or _ADDRESS.match(string) is not None) and not is_data_url(string)
