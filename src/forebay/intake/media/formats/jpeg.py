"""JPEG: markers up to the first scan. Source: ITU-T T.81, annex B."""

from forebay.intake.media import exif
from forebay.intake.media.header import Buffer, MalformedMedia, MediaHeader, image

MIME = "image/jpeg"
MAGIC = b"\xff\xd8\xff"
# A colour profile or a depth map is split into segments of 64 KiB: 255 of the one, about as many of the other.
MAX_SEGMENTS = 1_024
# Any number of 0xFF may pad a marker; nobody writes more than one or two.
MAX_FILL = 16

APP1 = 0xE1
START_OF_SCAN, END_OF_IMAGE = 0xDA, 0xD9
# SOF0..SOF15 without the tables DHT, JPG and DAC that share their range.
FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# RST0..RST7, SOI and TEM carry no length.
BARE_MARKERS = frozenset([*range(0xD0, 0xD9), 0x01])
EXIF_PREFIX = b"Exif\x00\x00"


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGIC)


def probe(data: Buffer) -> MediaHeader:
    """Stored size and EXIF orientation. Baseline, progressive, grey and CMYK all carry them alike."""
    at, size, turned = 2, (0, 0), 0
    for _ in range(MAX_SEGMENTS):
        marker, at = _marker(data, at)
        if marker in (START_OF_SCAN, END_OF_IMAGE, -1):
            break
        if marker in BARE_MARKERS:
            continue
        length = _u16(data, at)
        if marker in FRAME_MARKERS and at + 7 <= len(data):
            size = _u16(data, at + 5), _u16(data, at + 3)
        elif marker == APP1 and not turned:
            turned = _orientation(data, at + 2, at + length)
        if length < 2 or (size[0] and turned):
            break
        at += length
    if size == (0, 0):
        raise MalformedMedia("image/jpeg: no frame header before the first scan")
    return image(MIME, *size, orientation=turned or 1)


def _u16(data: Buffer, at: int) -> int:
    return data[at] << 8 | data[at + 1] if at + 2 <= len(data) else 0


def _marker(data: Buffer, at: int) -> tuple[int, int]:
    """The marker at `at` and the offset behind it; marker -1 where there is none."""
    if at >= len(data) or data[at] != 0xFF:
        return -1, at
    for behind in range(at + 1, min(at + MAX_FILL, len(data))):
        if data[behind] != 0xFF:
            return data[behind], behind + 1
    return -1, at


def _orientation(data: Buffer, start: int, end: int) -> int:
    """EXIF orientation in this APP1 segment, 0 when it holds no EXIF (XMP uses APP1 too)."""
    if bytes(data[start : start + 6]) != EXIF_PREFIX:
        return 0
    return exif.orientation(memoryview(data)[start + 6 : end])
