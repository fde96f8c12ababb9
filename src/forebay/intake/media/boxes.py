"""ISO base media boxes, walked flat and with a budget. Source: ISO/IEC 14496-12, section 4.2."""

from collections.abc import Iterator
from struct import Struct

import msgspec

from forebay.intake.media.header import Buffer

_HEADER = Struct(">I4s")
_LARGE = Struct(">Q")


class Box(msgspec.Struct, frozen=True, gc=False):
    """One box: its type, and where its payload starts and ends, never beyond the data."""

    kind: bytes
    start: int
    end: int


# Entries of a table that cost as much as one box: numpy adds up 65,536 in 0.1 ms.
ENTRIES_PER_BOX = 512


class Budget:
    """How many boxes may still be looked at in this file, over all levels together."""

    def __init__(self, boxes: int) -> None:
        self.left = boxes

    def entries(self, wanted: int) -> int:
        """Pay for the entries of a table: as many as are wanted, or as the budget still allows."""
        allowed = max(0, min(wanted, self.left * ENTRIES_PER_BOX))
        self.left -= allowed // ENTRIES_PER_BOX
        return allowed


def walk(data: Buffer, start: int, end: int, budget: Budget) -> Iterator[Box]:
    """Yield the boxes between `start` and `end` in order, without entering them.

    Stops at the first impossible size and when the budget is spent. A box that claims more than its parent holds is
    cut to it, so that a truncated file still tells what it has. Depth is the caller's: each level it wants is one call.
    """
    at = start
    while at + 8 <= end and budget.left > 0:
        budget.left -= 1
        size, kind = _HEADER.unpack_from(data, at)
        payload = at + 8
        if size == 1:
            if at + 16 > end:
                return
            (size,) = _LARGE.unpack_from(data, payload)
            payload = at + 16
        elif size == 0:
            size = end - at
        if at + size < payload:
            return
        yield Box(kind, payload, min(at + size, end))
        at += size


def first(data: Buffer, parent: Box, kind: bytes, budget: Budget) -> Box | None:
    """First child of that kind, or None."""
    for box in walk(data, parent.start, parent.end, budget):
        if box.kind == kind:
            return box
    return None


def descend(data: Buffer, parent: Box, path: tuple[bytes, ...], budget: Budget) -> Box | None:
    """Follow the first child of each kind along `path`. The path is ours, so the depth is too."""
    box: Box | None = parent
    for kind in path:
        if box is None:
            return None
        box = first(data, box, kind, budget)
    return box
