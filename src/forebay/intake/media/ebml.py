"""EBML elements, walked flat and with a budget. Source: RFC 8794, sections 4 to 6."""

import math
import struct
from collections.abc import Container, Iterator

import msgspec

from forebay.intake.media.boxes import Budget
from forebay.intake.media.header import Buffer

LONGEST_ID, LONGEST_SIZE = 4, 8


class Element(msgspec.Struct, frozen=True, gc=False):
    """One element: its ID with the length marker, and where its payload starts and ends, never beyond its parent."""

    kind: int
    start: int
    end: int


def walk(data: Buffer, start: int, end: int, budget: Budget, enter: Container[int] = ()) -> Iterator[Element]:
    """Yield the elements between `start` and `end` in order.

    Those of a kind to `enter`, and those that a live writer left without a size, are followed by their own children;
    all others are stepped over. Stops at the first impossible length, and when the budget is spent.
    """
    at = start
    while at < end and budget.left > 0:
        budget.left -= 1
        id_bytes = 9 - data[at].bit_length()
        size_at = at + id_bytes
        if id_bytes > LONGEST_ID or size_at >= end:
            return
        size_bytes = 9 - data[size_at].bit_length()
        payload = size_at + size_bytes
        if size_bytes > LONGEST_SIZE or payload > end:
            return
        kind = int.from_bytes(data[at:size_at], "big")
        most = (1 << 7 * size_bytes) - 1
        size = int.from_bytes(data[size_at:payload], "big") & most
        if size == most:
            yield Element(kind, payload, end)
            at = payload
        else:
            behind = payload + size
            yield Element(kind, payload, min(behind, end))
            at = payload if kind in enter else behind


def whole(data: Buffer, element: Element) -> int:
    """Value of an unsigned integer, of its first 8 bytes at most."""
    return int.from_bytes(data[element.start : min(element.end, element.start + 8)], "big")


def real(data: Buffer, element: Element) -> float:
    """Value of a float, 0 where it has no usual length or is no number that can be counted with."""
    layout = {4: ">f", 8: ">d"}.get(element.end - element.start)
    value: float = struct.unpack_from(layout, data, element.start)[0] if layout else 0.0
    return value if math.isfinite(value) else 0.0
