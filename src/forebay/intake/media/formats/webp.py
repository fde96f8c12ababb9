"""WebP: simple lossy, simple lossless, and the extended file with animation and EXIF. Source: RFC 9649."""

from struct import Struct

from forebay.intake.media import exif
from forebay.intake.media.header import Buffer, MalformedMedia, MediaHeader, image

MIME = "image/webp"
# One chunk a frame: an animation of more frames is counted up to here.
MAX_CHUNKS = 4_096
EXIF_FLAG, ANIMATION_FLAG = 0x08, 0x02
LOSSY_START = b"\x9d\x01\x2a"
LOSSLESS_START = 0x2F

_CHUNK = Struct("<4sI")
_LOSSY = Struct("<3sHH")
_U32 = Struct("<I")


def matches(head: bytes) -> bool:
    """See Format."""
    return head[:4] == b"RIFF" and head[8:12] == b"WEBP"


def probe(data: Buffer) -> MediaHeader:
    """Canvas size, animation frames and EXIF orientation."""
    if len(data) < 30 and bytes(data[12:16]) != b"VP8L":
        raise MalformedMedia("image/webp: cut before the end of its header")
    kind = bytes(data[12:16])
    if kind == b"VP8X":
        return _extended(data)
    if kind == b"VP8 ":
        return _lossy(data)
    if kind == b"VP8L" and len(data) >= 25:
        return _lossless(data)
    raise MalformedMedia("image/webp: no picture chunk")


def _lossy(data: Buffer) -> MediaHeader:
    start, width, height = _LOSSY.unpack_from(data, 23)
    if start != LOSSY_START:
        raise MalformedMedia("image/webp: no VP8 key frame")
    return image(MIME, width & 0x3FFF, height & 0x3FFF)  # the upper two bits ask for display scaling


def _lossless(data: Buffer) -> MediaHeader:
    (bits,) = _U32.unpack_from(data, 21)
    if data[20] != LOSSLESS_START:
        raise MalformedMedia("image/webp: no VP8L signature")
    return image(MIME, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)


def _extended(data: Buffer) -> MediaHeader:
    flags = data[20]
    width = (_U32.unpack_from(data, 23)[0] >> 8) + 1
    height = int.from_bytes(data[27:30], "little") + 1
    frames, turned = 1, 1
    if flags & (EXIF_FLAG | ANIMATION_FLAG):
        frames, turned = _walk(data)
    return image(MIME, width, height, frames, turned)


def _walk(data: Buffer) -> tuple[int, int]:
    frames, turned, at = 0, 1, 12
    for _ in range(MAX_CHUNKS):
        if at + 8 > len(data):
            break
        kind, size = _CHUNK.unpack_from(data, at)
        if kind == b"ANMF":
            frames += 1
        elif kind == b"EXIF":
            turned = _orientation(memoryview(data)[at + 8 : at + 8 + size])
        at += 8 + size + (size & 1)
    return max(1, frames), turned


def _orientation(chunk: memoryview) -> int:
    """Some writers keep the prefix of the JPEG segment that the EXIF came from."""
    return exif.orientation(chunk[6:] if bytes(chunk[:6]) == b"Exif\x00\x00" else chunk)
