"""One `trak` of an MP4: what it holds, how big, how many samples, how long."""

from itertools import islice
from struct import Struct

import msgspec
import numpy as np

from forebay.intake.media.boxes import Box, Budget, descend, first, walk
from forebay.intake.media.header import MICROSECONDS, Buffer

MAX_TRACKS = 32
# One, and one before it that delays the track.
MAX_EDITS = 4
# Above this many entries the time table is not summed: 65,536 take 0.1 ms.
MAX_TIME_ENTRIES = 65_536
# A visual sample entry up to its height: box header, 8 bytes common, 16 predefined, width, height.
VISUAL_ENTRY_BYTES = 36

_U32 = Struct(">I")
_SIZE = Struct(">HH")
_MDHD = {0: Struct(">IIII"), 1: Struct(">IQQIQ")}
_EDITS = (Struct(">IiI"), Struct(">QqI"))
_MATRIX = Struct(">iiiii")  # a, b, u, c, d
_SHOWN = Struct(">II")

# The upper left of the matrix in tkhd (a, b, c, d of ISO/IEC 14496-12, 8.3.2, in whole turns) as EXIF orientation.
_TURNS = {(1, 0, 0, 1): 1, (0, 1, -1, 0): 6, (-1, 0, 0, -1): 3, (0, -1, 1, 0): 8}
_FIXED_ONE = 65_536


class Track(msgspec.Struct, frozen=True, gc=False):
    """What one track tells. Unknown is 0, or empty for the handler (`vide`, `soun`).

    `skipped_units` stand at the start and are not played: the delay of a sound's codec.
    """

    handler: bytes
    track_id: int
    width: int
    height: int
    orientation: int
    frames: int
    duration_us: int
    units_per_second: int
    skipped_units: int


def read_tracks(data: Buffer, moov: Box, budget: Budget) -> list[Track]:
    """Read the first MAX_TRACKS tracks of a `moov`."""
    boxes = (box for box in walk(data, moov.start, moov.end, budget) if box.kind == b"trak")
    return [read_track(data, box, budget) for box in islice(boxes, MAX_TRACKS)]


def read_track(data: Buffer, trak: Box, budget: Budget) -> Track:
    """Read one `trak`. Missing boxes leave zeros."""
    tkhd = first(data, trak, b"tkhd", budget)
    mdia = first(data, trak, b"mdia", budget)
    handler, timing, table = b"", (0, 0), None
    if mdia is not None:
        handler, timing, table = _media(data, mdia, budget)
    track_id, orientation, shown = _header(data, tkhd)
    frames, stored = _samples(data, table, budget) if table is not None else (0, (0, 0))
    width, height = stored if all(stored) else shown
    skipped = _skipped(data, first(data, trak, b"edts", budget), budget)
    return Track(handler, track_id, width, height, orientation, frames, *timing, skipped)


def _skipped(data: Buffer, edts: Box | None, budget: Budget) -> int:
    """Where the first edit that plays something begins in the track."""
    elst = first(data, edts, b"elst", budget) if edts is not None else None
    if elst is None or elst.end - elst.start < 8:
        return 0
    edit = _EDITS[data[elst.start] == 1]
    for at in range(
        elst.start + 8, min(elst.end, elst.start + 8 + MAX_EDITS * edit.size) - edit.size + 1, edit.size
    ):
        _, media_time, _ = edit.unpack_from(data, at)
        if media_time >= 0:  # -1 is an edit that plays nothing
            return int(media_time)
    return 0


def _media(data: Buffer, mdia: Box, budget: Budget) -> tuple[bytes, tuple[int, int], Box | None]:
    handler, timing, table = b"", (0, 0), None
    for box in walk(data, mdia.start, mdia.end, budget):
        if box.kind == b"hdlr" and box.end - box.start >= 12:
            handler = bytes(data[box.start + 8 : box.start + 12])
        elif box.kind == b"mdhd":
            timing = _timing(data, box)
        elif box.kind == b"minf":
            table = descend(data, box, (b"stbl",), budget)
    return handler, timing, table


def _timing(data: Buffer, mdhd: Box) -> tuple[int, int]:
    """Duration in microseconds, 0 where it is unknown (all ones), and units a second; zeros when the box is cut."""
    layout = _MDHD.get(data[mdhd.start]) if mdhd.end > mdhd.start else None
    if layout is None or mdhd.end - mdhd.start < layout.size + (4 if layout is _MDHD[0] else 0):
        return 0, 0
    if layout is _MDHD[0]:
        _, _, _, scale = layout.unpack_from(data, mdhd.start)
        (duration,) = _U32.unpack_from(data, mdhd.start + 16)
        unknown = 2**32 - 1
    else:
        _, _, _, scale, duration = layout.unpack_from(data, mdhd.start)
        unknown = 2**64 - 1
    return (duration * MICROSECONDS // scale if scale and duration != unknown else 0), scale


def _header(data: Buffer, tkhd: Box | None) -> tuple[int, int, tuple[int, int]]:
    """Track number, orientation and shown size (16.16 fixed point, after aspect correction)."""
    if tkhd is None or tkhd.end <= tkhd.start:
        return 0, 1, (0, 0)
    # Version 1 has three 64-bit times where version 0 has 32-bit ones.
    wide = 12 if data[tkhd.start] == 1 else 0
    if tkhd.end - tkhd.start < 84 + wide:
        return 0, 1, (0, 0)
    (track_id,) = _U32.unpack_from(data, tkhd.start + (20 if wide else 12))
    a, b, _, c, d = _MATRIX.unpack_from(data, tkhd.start + 40 + wide)
    turn = _TURNS.get((a // _FIXED_ONE, b // _FIXED_ONE, c // _FIXED_ONE, d // _FIXED_ONE), 1)
    width, height = _SHOWN.unpack_from(data, tkhd.start + 76 + wide)
    return track_id, turn, (width >> 16, height >> 16)


def _samples(data: Buffer, table: Box, budget: Budget) -> tuple[int, tuple[int, int]]:
    """Number of samples (from stts, or stsz where that is too long) and the coded size that decoders give."""
    frames, size = 0, (0, 0)
    for box in walk(data, table.start, table.end, budget):
        room = box.end - box.start
        if box.kind == b"stts" and room >= 8:
            frames = frames or _timed_samples(data, box, budget)
        elif box.kind in (b"stsz", b"stz2") and room >= 12:
            frames = frames or _U32.unpack_from(data, box.start + 8)[0]
        elif box.kind == b"stsd" and room >= 8 + VISUAL_ENTRY_BYTES:
            size = _SIZE.unpack_from(data, box.start + 8 + 32)
    return frames, size


def _timed_samples(data: Buffer, stts: Box, budget: Budget) -> int:
    """Sum of the sample counts of the time-to-sample table; 0 for a table too long to sum."""
    (claimed,) = _U32.unpack_from(data, stts.start + 4)
    entries = min(claimed, (stts.end - stts.start - 8) // 8)
    if entries > MAX_TIME_ENTRIES or budget.entries(entries) < entries:
        return 0
    pairs = np.frombuffer(data, dtype=">u4", count=2 * entries, offset=stts.start + 8)
    return int(pairs[::2].sum(dtype=np.uint64))
