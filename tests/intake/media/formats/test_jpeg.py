"""JPEG, built by hand."""

from struct import pack

import pytest

from forebay.intake.media.formats import jpeg
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def segment(marker, payload):
    return bytes([0xFF, marker]) + pack(">H", len(payload) + 2) + payload


def frame(width, height, marker=0xC0):
    return segment(marker, pack(">BHHB", 8, height, width, 3) + bytes(9))


SCAN = segment(0xDA, bytes(10))


def test_fill_bare_markers_tables_and_xmp_are_skipped(exif_block):
    data = (
        b"\xff\xd8" + b"\xff\xff\xff\xd0" + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\x00") + segment(0xC4, bytes(20))
        + frame(30, 20, 0xC2) + segment(0xE1, b"Exif\x00\x00" + exif_block(3)) + SCAN
    )  # fmt: skip
    header = probe(data)
    assert (header.width, header.height, header.orientation) == (30, 20, 3)


def test_a_jpeg_keeps_its_size_when_all_behind_the_frame_is_cut():
    assert probe(b"\xff\xd8" + frame(30, 20)).width == 30


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8" + SCAN + frame(30, 20),
        b"\xff\xd8" + frame(30, 0) + SCAN,
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8" + b"\xff" * 1000 + frame(30, 20)[1:],
        b"\xff\xd8" + segment(0xE0, b"")[:2] + b"\x00\x01" + frame(30, 20),
        b"\xff\xd8" + segment(0xE0, b"") * (jpeg.MAX_SEGMENTS + 1) + frame(30, 20),
        b"\xff\xd8" + segment(0xE0, b"") + b"\x00" + frame(30, 20),
    ],
)
def test_a_jpeg_without_a_frame_header_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/jpeg"):
        probe(data)
