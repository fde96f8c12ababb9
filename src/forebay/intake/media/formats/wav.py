"""WAV (RIFF, RF64, BW64): duration is data bytes over bytes a second. Source: Microsoft RIFF 1994; EBU Tech 3306."""

from struct import Struct

from forebay.intake.media.header import MICROSECONDS, Buffer, MalformedMedia, MediaHeader, sound

MIME = "audio/wav"
# Broadcast and tag chunks stand before the sound: a handful in practice.
MAX_CHUNKS = 64
# Formats of fixed sample size, for which the rate follows from the samples and a false byte rate cannot lie:
# PCM, float, A-law, mu-law, and the extensible wrapper of those.
FIXED_SIZE_FORMATS = frozenset([0x0001, 0x0003, 0x0006, 0x0007, 0xFFFE])

_CHUNK = Struct("<4sI")
_FORMAT = Struct("<HHIIHH")


def matches(head: bytes) -> bool:
    """See Format."""
    return head[:4] in (b"RIFF", b"RF64", b"BW64") and head[8:12] == b"WAVE"


def probe(data: Buffer) -> MediaHeader:
    """Duration in microseconds, rounded down.

    A live recorder writes 0 or 0xFFFFFFFF as the size of its data, and RF64 always the latter: then the data is as
    long as the bytes that are there. No claim is believed beyond those.
    """
    rate, at = 0, 12
    for _ in range(MAX_CHUNKS):
        if at + 8 > len(data):
            break
        kind, size = _CHUNK.unpack_from(data, at)
        at += 8
        if kind == b"fmt ":
            rate = _bytes_per_second(data, at)
        elif kind == b"data":
            return _timed(rate, _data_bytes(size, len(data) - at))
        at += size + (size & 1)
    raise MalformedMedia("audio/wav: no data chunk")


def _bytes_per_second(data: Buffer, at: int) -> int:
    if at + _FORMAT.size > len(data):
        raise MalformedMedia("audio/wav: cut before the end of its format")
    fields: tuple[int, ...] = _FORMAT.unpack_from(data, at)
    kind, channels, samples_per_second, claimed, _, bits = fields
    if kind not in FIXED_SIZE_FORMATS:
        return claimed
    return samples_per_second * channels * ((bits + 7) // 8)


def _data_bytes(claimed: int, present: int) -> int:
    return min(claimed or present, present)


def _timed(rate: int, data_bytes: int) -> MediaHeader:
    if rate == 0:
        raise MalformedMedia("audio/wav: a rate of 0 bytes a second")
    return sound(MIME, data_bytes * MICROSECONDS // rate)
