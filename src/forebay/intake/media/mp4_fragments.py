"""Fragments of an MP4 that was written live: how many samples of one track they hold, and for how long.

Source: ISO/IEC 14496-12, sections 8.8.3 (trex), 8.8.7 (tfhd) and 8.8.8 (trun).
"""

from struct import Struct
from typing import NamedTuple

import numpy as np

from forebay.intake.media.boxes import Box, Budget, descend, walk
from forebay.intake.media.header import Buffer

# Flags of tfhd, with the bytes of what stands before the default duration.
BASE_OFFSET, DESCRIPTION, DEFAULT_DURATION = (0x1, 8), (0x2, 4), 0x8
# Flags of trun: what stands before its samples, and what each of them has, the duration first.
DATA_OFFSET, FIRST_FLAGS = 0x1, 0x4
PER_SAMPLE = (0x100, 0x200, 0x400, 0x800)

_U32 = Struct(">I")
_TWO = Struct(">II")
_TREX = Struct(">4xIII")


class Length(NamedTuple):
    """Samples, and their duration in the units of the track; not `whole` when the budget ended before the file."""

    samples: int
    units: int
    whole: bool


def length(data: Buffer, moov: Box, track_id: int, budget: Budget) -> Length:
    """Add up the fragments of one track. Those beyond the budget are taken to be like those within."""
    usual = _usual_duration(data, moov, track_id, budget)
    samples = units = 0
    at = moov.end
    for moof in walk(data, 0, len(data), budget):
        if moof.kind != b"moof":
            continue
        for traf in walk(data, moof.start, moof.end, budget):
            if traf.kind == b"traf":
                more, longer = _fragment(data, traf, track_id, usual, budget)
                samples, units = samples + more, units + longer
        at = moof.end
    if budget.left > 0 or at <= moov.end:
        return Length(samples, units, budget.left > 0)
    rest = len(data) - moov.end
    return Length(samples * rest // (at - moov.end), units * rest // (at - moov.end), whole=False)


def _usual_duration(data: Buffer, moov: Box, track_id: int, budget: Budget) -> int:
    """Units of a sample that nothing else is said of, 0 where that is not said either."""
    extends = descend(data, moov, (b"mvex",), budget)
    for box in walk(data, extends.start, extends.end, budget) if extends else ():
        if box.kind == b"trex" and box.end - box.start >= 16:
            owner, _, duration = _TREX.unpack_from(data, box.start)
            if owner == track_id:
                return int(duration)
    return 0


def _fragment(data: Buffer, traf: Box, track_id: int, usual: int, budget: Budget) -> tuple[int, int]:
    samples = units = 0
    for box in walk(data, traf.start, traf.end, budget):
        if box.end - box.start < 8:
            continue
        if box.kind == b"tfhd":
            flags, owner = _TWO.unpack_from(data, box.start)
            if owner != track_id:
                break
            usual = _stated_usual(data, box, flags, usual)
        elif box.kind == b"trun":
            more, longer = _run(data, box, usual, budget)
            samples, units = samples + more, units + longer
    return samples, units


def _stated_usual(data: Buffer, tfhd: Box, flags: int, usual: int) -> int:
    at = tfhd.start + 8 + sum(size for flag, size in (BASE_OFFSET, DESCRIPTION) if flags & flag)
    return int(_U32.unpack_from(data, at)[0]) if flags & DEFAULT_DURATION and at + 4 <= tfhd.end else usual


def _run(data: Buffer, trun: Box, usual: int, budget: Budget) -> tuple[int, int]:
    flags, samples = _TWO.unpack_from(data, trun.start)
    if not flags & PER_SAMPLE[0]:
        return samples, samples * usual
    at = trun.start + 8 + 4 * (bool(flags & DATA_OFFSET) + bool(flags & FIRST_FLAGS))
    fields = sum(1 for flag in PER_SAMPLE if flags & flag)
    samples = max(0, min(samples, (trun.end - at) // (4 * fields)))
    read = budget.entries(samples * fields) // fields
    if not read:
        return samples, 0
    table = np.frombuffer(data, dtype=">u4", count=read * fields, offset=at)
    return samples, int(table[::fields].sum(dtype=np.uint64))
