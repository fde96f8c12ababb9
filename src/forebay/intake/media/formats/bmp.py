"""BMP: the DIB header that follows the file header. Source: the BITMAPINFOHEADER family of Windows GDI."""

from struct import Struct

from forebay.intake.media.header import Buffer, MediaHeader, image

MIME = "image/bmp"
MAGIC = b"BM"
# Two letters are weak magic, so the size of the DIB header must be a known one too.
CORE_BYTES = 12
DIB_BYTES = frozenset([CORE_BYTES, 16, 40, 52, 56, 64, 108, 124])

_U32 = Struct("<I")
_CORE = Struct("<HH")
_INFO = Struct("<ii")


def matches(head: bytes) -> bool:
    """See Format."""
    return head[:2] == MAGIC and len(head) >= 26 and _U32.unpack_from(head, 14)[0] in DIB_BYTES


def probe(data: Buffer) -> MediaHeader:
    """Size in pixels. A negative height stores rows from the top, and means the same size."""
    core = _U32.unpack_from(data, 14)[0] == CORE_BYTES
    width, height = (_CORE if core else _INFO).unpack_from(data, 18)
    return image(MIME, width, abs(height))
