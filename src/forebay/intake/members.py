"""Where the members of a JSON object lie in its bytes, so that one value can be replaced and no other byte touched."""

import re
from typing import NamedTuple

import msgspec
import numpy as np

_RAWS = msgspec.json.Decoder(dict[str, msgspec.Raw])
# What may stand between two values of an object when no member is hidden there by a later one of the same name.
_BETWEEN = re.compile(rb'[{,][ \t\r\n]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)


class Span(NamedTuple):
    """A half-open range of bytes."""

    start: int
    stop: int


class DuplicateKeyError(ValueError):
    """An object names a key twice: readers may differ in the one that they take."""


def member_spans(document: bytes) -> dict[str, Span]:
    """The span of each member's value in the object `document`, by its unescaped key, in order.

    Raises DuplicateKeyError with the name of a key that appears twice, and msgspec.DecodeError when `document` is not
    an object.
    """
    start_of_all = _address(document)
    spans = {}
    previous = 0
    while document[previous] in b" \t\r\n":
        previous += 1
    for key, raw in _RAWS.decode(document).items():
        start = _address(raw) - start_of_all
        spans[key] = Span(start, start + len(memoryview(raw)))
    for span in sorted(spans.values()):
        if not _BETWEEN.fullmatch(document, previous, span.start):
            raise DuplicateKeyError(_hidden_key(document, previous))
        previous = _skip_space(document, span.stop)
    return spans


def _address(buffer: bytes | msgspec.Raw) -> int:
    place: int = np.frombuffer(buffer, dtype=np.uint8).__array_interface__["data"][0]
    return place


def _skip_space(document: bytes, at: int) -> int:
    while document[at] in b" \t\r\n":
        at += 1
    return at


def _hidden_key(document: bytes, at: int) -> str:
    key = re.compile(rb'[{,]\s*("(?:[^"\\]|\\.)*")', re.DOTALL).match(document, at)
    assert key is not None
    name: str = msgspec.json.decode(key[1], type=str)
    return name
