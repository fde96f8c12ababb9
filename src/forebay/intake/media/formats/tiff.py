"""TIFF and BigTIFF, in both byte orders: the first directory's picture, and a count of pages. Source: TIFF 6.0."""

from forebay.intake.media import exif
from forebay.intake.media.header import CUT, Buffer, MediaHeader, image
from forebay.intake.media.ifd import LAYOUTS, Layout

MIME = "image/tiff"
# A scanned document has tens of pages. Of a longer one the count is a lower bound.
MAX_PAGES = 1_024

WIDTH, HEIGHT = 0x0100, 0x0101


def matches(head: bytes) -> bool:
    """See Format."""
    return head[:4] in LAYOUTS


def probe(data: Buffer) -> MediaHeader:
    """Upright size, since decoders turn a TIFF while they read it, and pages as frames."""
    layout = LAYOUTS[bytes(data[:4])]
    at = layout.first(data)
    entries = layout.entries(data, at, (WIDTH, HEIGHT, exif.ORIENTATION))
    width, height = entries.get(WIDTH, 0), entries.get(HEIGHT, 0)
    if exif.upright_if_strange(entries) >= 5:
        width, height = height, width
    return image(MIME, width, height, _pages(data, layout, at))


def _pages(data: Buffer, layout: Layout, at: int) -> int:
    """Directories in the chain from the one at `at`, which exists. A chain that bites its own tail ends there."""
    seen: set[int] = set()
    while at and at not in seen and len(seen) < MAX_PAGES:
        seen.add(at)
        try:
            at = layout.behind(data, at)
        except CUT:
            break
    return len(seen)
