"""Reads an engine's error object, in any of the shapes that engines use."""

from typing import Any

from forebay.domain.outcome import FailureKind
from forebay.gateway.streams.machine import StreamFailure

_BAD_GATEWAY = 502
# Engines that give no number give one of these words, alone or within a longer one (vLLM, SGLang, Anthropic).
_STATUS_OF_WORD = (
    ("overloaded", 503),
    ("unavailable", 503),
    ("rate_limit", 429),
    ("badrequest", 400),
    ("invalid_request", 400),
    ("exceed_context", 400),
    ("not_found", 404),
    ("timeout", 504),
)


def stream_failure(error: Any) -> StreamFailure:
    """The failure that an error event tells of. An error without a usable number or word counts as a bad gateway."""
    if not isinstance(error, dict):
        return StreamFailure(FailureKind.STREAM_ERROR, _BAD_GATEWAY, "upstream_error", str(error))
    word = str(error.get("type") or "upstream_error")
    code = error.get("code")
    status = _as_status(code) or _status_of_word(word)
    name = code if isinstance(code, str) and not code.isdigit() else word
    return StreamFailure(FailureKind.STREAM_ERROR, status, name, str(error.get("message") or word))


def _as_status(code: Any) -> int:
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:4])
    return code if isinstance(code, int) and 400 <= code <= 599 else 0


def _status_of_word(word: str) -> int:
    lowered = word.lower()
    return next((status for known, status in _STATUS_OF_WORD if known in lowered), _BAD_GATEWAY)
