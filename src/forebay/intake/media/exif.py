"""The orientation tag of an EXIF block, which JPEG, PNG and WebP each wrap in their own way."""

from forebay.intake.media.header import CUT, Buffer
from forebay.intake.media.ifd import LAYOUTS

ORIENTATION = 0x0112


def orientation(block: Buffer) -> int:
    """EXIF orientation, 1..8, of the TIFF structure in `block`. Anything unreadable is 1: the picture stays as stored.

    Source: EXIF 2.32, 4.6.4.
    """
    layout = LAYOUTS.get(bytes(block[:4]))
    if layout is None:
        return 1
    try:
        return upright_if_strange(layout.entries(block, layout.first(block), (ORIENTATION,)))
    except CUT:
        return 1


def upright_if_strange(entries: dict[int, int]) -> int:
    """The orientation among `entries`, 1 where it is missing or no orientation."""
    turned = entries.get(ORIENTATION, 1)
    return turned if 1 <= turned <= 8 else 1
