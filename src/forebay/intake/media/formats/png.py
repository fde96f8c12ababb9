"""PNG and APNG: IHDR, then chunk headers up to the first pixels. Source: PNG third edition, section 11."""

from struct import Struct

from forebay.intake.media import exif
from forebay.intake.media.header import Buffer, MalformedMedia, MediaHeader, image

MIME = "image/png"
MAGIC = b"\x89PNG\r\n\x1a\n"
# Colour, text and EXIF chunks stand before the pixels: a dozen in practice.
MAX_CHUNKS = 64
MAX_SIDE = 2**31 - 1

_CHUNK = Struct(">I4s")
_IHDR = Struct(">I4sII")
_FRAMES = Struct(">I")


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGIC)


def probe(data: Buffer) -> MediaHeader:
    """Size, animation frames and EXIF orientation (where the eXIf chunk stands before the pixels)."""
    if len(data) < 24:
        raise MalformedMedia("image/png: cut before the end of its header")
    _, kind, width, height = _IHDR.unpack_from(data, 8)
    if kind != b"IHDR" or width > MAX_SIDE or height > MAX_SIDE:
        raise MalformedMedia("image/png: no usable IHDR chunk")
    frames, turned = _before_pixels(data)
    return image(MIME, width, height, frames, turned)


def _before_pixels(data: Buffer) -> tuple[int, int]:
    frames, turned, at = 1, 1, 8
    for _ in range(MAX_CHUNKS):
        if at + 12 > len(data):
            break
        length, kind = _CHUNK.unpack_from(data, at)
        if kind == b"IDAT":
            break
        if kind == b"acTL":
            frames = max(1, _FRAMES.unpack_from(data, at + 8)[0])
        elif kind == b"eXIf":
            turned = exif.orientation(memoryview(data)[at + 8 : at + 8 + length])
        at += 12 + length
    return frames, turned
