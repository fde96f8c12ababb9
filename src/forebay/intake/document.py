"""Checks that a JSON parser leaves out and that engines trip over: depth, size, numbers past all range, bad UTF-8.

They run before the document is parsed, on all of it, so that what is skipped as unknown is checked as well. They look
at the structure: the document without what stands between quotes.
"""

import math
import re

import numpy as np

from forebay.intake.refusal import Refusal, bad_request
from forebay.intake.settings import IntakeSettings

# Only these can leave the range of a double, 1.8e308: three digits of exponent, or a long row of digits. Both searches
# look at a digit once: an expression that starts with one would try each of a long row as its start.
_LONG_EXPONENT = re.compile(rb"[eE]\+?[0-9]{3}")
_LONG_ROW = b"0" * 200
_DIGITS_AS_ZEROS = bytes(ord("0") if ord("0") <= sign <= ord("9") else 0 for sign in range(256))
# Python, in which most engines are written, reads no integer of more digits.
_MAX_NUMBER_BYTES = 4_300
# The shortest number past all range.
_LEAST_NUMBER_BYTES = len(b"1e309")
_NUMBER_SIGNS = b"0123456789+-.eE"
_NUMBERS_ONLY = bytes(sign if sign in _NUMBER_SIGNS else ord(" ") for sign in range(256))
_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(sign for sign in range(256) if sign not in _BRACKETS)
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")


def check_document(text: bytes, settings: IntakeSettings) -> None:
    """Raise a Refusal when `text` is too deep, too large, holds a number past all range, or is no UTF-8 or no JSON at sight."""
    if not text.isascii():
        _check_utf8(text)
    if len(text) > settings.max_elements and text.count(b'"') > 4 * (settings.max_elements + 1):
        raise _too_many(settings)
    structure = structure_of(text)
    opened = structure.count(b"[") + structure.count(b"{")
    if opened + structure.count(b",") > settings.max_elements:
        raise _too_many(settings)
    if opened > settings.max_depth and depth_of(structure) > settings.max_depth:
        raise bad_request("body_too_deep", f"the body is nested deeper than {settings.max_depth} levels")
    if _LONG_EXPONENT.search(structure) or _has_long_row(structure):
        _check_numbers(structure, settings)


def structure_of(text: bytes) -> bytes:
    """The document without its strings. Of what is no JSON, some part of it."""
    if b"\\" in text:
        # Pairs of backslashes first, so that the backslash of an escaped quote is one that escapes.
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(text.split(b'"')[::2])


def depth_of(structure: bytes) -> int:
    """How deep the brackets go."""
    steps = np.frombuffer(structure.translate(_STEPS, _NOT_BRACKETS), dtype=np.int8)
    return int(steps.cumsum(dtype=np.int64).max(initial=0))


def malformed() -> Refusal:
    """The body is no JSON. What is wrong is not said: the parser's words could hold what was sent."""
    return bad_request("invalid_json", "the body is not valid JSON")


def _check_utf8(text: bytes) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as fault:
        raise bad_request("invalid_json", f"the body is not valid UTF-8 at byte {fault.start}") from None


def _has_long_row(structure: bytes) -> bool:
    return len(structure) >= len(_LONG_ROW) and _LONG_ROW in structure.translate(_DIGITS_AS_ZEROS)


def _check_numbers(structure: bytes, settings: IntakeSettings) -> None:
    numbers = structure.translate(_NUMBERS_ONLY).split()
    if len(numbers) > settings.max_elements + 1:  # what is JSON has a bracket or a comma before each
        raise _too_many(settings)
    if any(len(number) >= _LEAST_NUMBER_BYTES and _is_past_range(number) for number in numbers):
        raise bad_request("number_out_of_range", "the body holds a number that no double can hold")


def _is_past_range(number: bytes) -> bool:
    try:
        return len(number) > _MAX_NUMBER_BYTES or math.isinf(float(number))
    except ValueError:
        raise malformed() from None


def _too_many(settings: IntakeSettings) -> Refusal:
    return bad_request("body_too_large", f"the body holds more than {settings.max_elements} values")
