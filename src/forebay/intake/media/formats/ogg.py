"""Ogg: Opus, Vorbis, FLAC, Speex and Theora. The first pages name the codecs, the last one of a stream tells its end.

Source: RFC 3533, section 6 (pages); RFC 7845 (Opus); Vorbis I, section 4.2.2; Theora, section 6.2; the FLAC-to-Ogg
mapping.
"""

from struct import Struct
from typing import NamedTuple

from forebay.domain.ability import Ability
from forebay.intake.media.formats import flac
from forebay.intake.media.header import (
    MICROSECONDS,
    Buffer,
    MalformedMedia,
    MediaHeader,
    clip,
    sound,
    unsized,
)

MIME, VIDEO = "audio/ogg", "video/ogg"
MAGIC = b"OggS"
# Each stream starts on a page of its own, and all of those come first.
MAX_STREAMS = 8
BEGINS = 0x02
PAGE_HEADER_BYTES = 27
LONGEST_PAGE_BYTES = PAGE_HEADER_BYTES + 255 + 255 * 255
# Pages of several streams alternate at the end, and the magic may stand inside of one by chance.
MAX_LAST_PAGES = 64
OPUS_RATE = 48_000

_PAGE = Struct("<4sBBqI")
_U32 = Struct("<I")
_THEORA = Struct(">14x3s3s2xII10xH")


class Stream(NamedTuple):
    """One logical stream: its serial number, and its first packet."""

    serial: int
    packet: bytes


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGIC)


def probe(data: Buffer) -> MediaHeader:
    """Duration of the first sound; size, frames and duration of a Theora video."""
    streams = _streams(data)
    for stream in streams:
        if stream.packet.startswith(b"\x80theora"):
            return _theora(data, stream, has_audio=len(streams) > 1)
    for stream in streams:
        timing = _timing(stream.packet)
        if timing is not None:
            rate, skipped, total_us = timing
            return sound(MIME, total_us or _microseconds(_last_granule(data, stream.serial) - skipped, rate))
    if not streams:
        raise MalformedMedia(f"{MIME}: no stream begins")
    return unsized(MIME, Ability.AUDIO)


def _streams(data: Buffer) -> list[Stream]:
    found: list[Stream] = []
    at = 0
    while len(found) < MAX_STREAMS and at + PAGE_HEADER_BYTES <= len(data):
        magic, _, flags, _, serial = _PAGE.unpack_from(data, at)
        if magic != MAGIC or not flags & BEGINS:
            break
        body = at + PAGE_HEADER_BYTES + data[at + PAGE_HEADER_BYTES - 1]
        end = body + sum(data[at + PAGE_HEADER_BYTES : body])
        found.append(Stream(serial, bytes(data[body:end])))
        at = end
    return found


def _timing(packet: bytes) -> tuple[int, int, int] | None:
    """Samples a second, samples to skip at the start, and microseconds where the packet itself tells them (0 if not)."""
    if packet.startswith(b"OpusHead"):
        return OPUS_RATE, int.from_bytes(packet[10:12], "little"), 0
    if packet.startswith(b"\x01vorbis"):
        return _U32.unpack_from(packet, 12)[0], 0, 0
    if packet.startswith(b"Speex   "):
        return _U32.unpack_from(packet, 36)[0], 0, 0
    if packet.startswith(b"\x7fFLAC"):
        at = 9 + flac.RATE_AT  # the mapping's own header, then a FLAC file's
        rate = int.from_bytes(packet[at : at + 3], "big") >> 4
        return rate, 0, flac.duration_us(packet, at)
    return None


def _last_granule(data: Buffer, serial: int) -> int:
    """Position at the end of the last page of that stream that ends a packet, 0 where none is near the end."""
    tail = bytes(data[-2 * LONGEST_PAGE_BYTES :])
    at = len(tail)
    for _ in range(MAX_LAST_PAGES):
        at = tail.rfind(MAGIC, 0, at)
        if at < 0:
            break
        if at + PAGE_HEADER_BYTES > len(tail):
            continue
        _, version, _, granule, owner = _PAGE.unpack_from(tail, at)
        if version == 0 and owner == serial and granule >= 0:
            return int(granule)
    return 0


def _microseconds(samples: int, rate: int) -> int:
    return max(0, samples) * MICROSECONDS // rate if rate else 0


def _theora(data: Buffer, stream: Stream, *, has_audio: bool) -> MediaHeader:
    """The shown size, which lies inside of whole blocks. A position is a key frame's number and the frames behind it."""
    width, height, rate, per, shifted = _THEORA.unpack_from(stream.packet)
    granule = _last_granule(data, stream.serial)
    shift = shifted >> 5 & 0x1F
    frames = (granule >> shift) + (granule & (1 << shift) - 1)
    duration_us = frames * per * MICROSECONDS // rate if rate else 0
    size = int.from_bytes(width, "big"), int.from_bytes(height, "big")
    return clip(VIDEO, *size, frames, duration_us, has_audio=has_audio)
