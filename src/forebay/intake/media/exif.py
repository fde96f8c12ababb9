"""The orientation tag of an EXIF block, which JPEG, PNG and WebP each wrap in their own way."""

from struct import Struct

from forebay.intake.media.header import Buffer

ORIENTATION_TAG = 0x0112
SHORT = 3
# IFD0 of a camera holds a few dozen tags; the count in the header is only a claim.
MAX_ENTRIES = 256
ENTRY_BYTES = 12

_ORDERS = {
    b"II*\x00": (Struct("<I"), Struct("<H"), Struct("<HHIH")),
    b"MM\x00*": (Struct(">I"), Struct(">H"), Struct(">HHIH")),
}


def orientation(tiff: Buffer) -> int:
    """EXIF orientation, 1..8, of the TIFF structure in `tiff`. Anything unreadable is 1: the picture stays as stored.

    Source: EXIF 2.32, 4.6.4; TIFF 6.0, section 2.
    """
    order = _ORDERS.get(bytes(tiff[:4]))
    if order is None or len(tiff) < 8:
        return 1
    u32, u16, entry = order
    (first,) = u32.unpack_from(tiff, 4)
    if first + 2 > len(tiff):
        return 1
    (claimed,) = u16.unpack_from(tiff, first)
    room = (len(tiff) - first - 2) // ENTRY_BYTES
    for index in range(min(claimed, room, MAX_ENTRIES)):
        tag, kind, _, value = entry.unpack_from(tiff, first + 2 + index * ENTRY_BYTES)
        if tag == ORIENTATION_TAG:
            return value if kind == SHORT and 1 <= value <= 8 else 1
    return 1
