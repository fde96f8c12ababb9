"""GIF: the logical screen, and a count of image blocks. Source: GIF89a specification."""

from struct import Struct

from forebay.intake.media.header import Buffer, MalformedMedia, MediaHeader, image

MIME = "image/gif"
MAGICS = (b"GIF87a", b"GIF89a")
# Pixels come in sub-blocks of at most 255 bytes, and each must be stepped over: this many are 5 MB of GIF and about
# a millisecond. Of a longer one the frames are a lower bound, which changes no price by default (one image).
MAX_STEPS = 20_000

IMAGE, EXTENSION = 0x2C, 0x21
_SCREEN = Struct("<HHB")


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGICS)


def probe(data: Buffer) -> MediaHeader:
    """Size of the canvas and number of frames, at least 1."""
    if len(data) < 13:
        raise MalformedMedia("image/gif: cut before the end of its header")
    width, height, flags = _SCREEN.unpack_from(data, 6)
    return image(MIME, width, height, _frames(data, 13 + _table_bytes(flags)))


def _table_bytes(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _frames(data: Buffer, at: int) -> int:
    frames, end, steps = 0, len(data), MAX_STEPS
    while steps > 0 and at < end:
        kind = data[at]
        if kind == IMAGE and at + 10 < end:
            frames += 1
            at += 11 + _table_bytes(data[at + 9])
        elif kind == EXTENSION:
            at += 2
        else:
            break
        steps -= 1
        while steps > 0 and at < end and (size := data[at]):
            at += size + 1
            steps -= 1
        at += 1
    return max(1, frames)
