"""PNG and APNG, built by hand."""

from struct import pack

import pytest

from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def chunk(kind, payload=b""):
    return pack(">I", len(payload)) + kind + payload + bytes(4)


def png(width, height, *chunks):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", pack(">II5x", width, height)) + b"".join(chunks)


def test_an_animation_tells_its_frames_and_orientation(exif_block):
    header = probe(
        png(
            70,
            40,
            chunk(b"acTL", pack(">II", 9, 0)),
            chunk(b"eXIf", exif_block(8)),
            chunk(b"IDAT"),
            chunk(b"acTL"),
        )
    )
    assert (header.width, header.height, header.frames, header.orientation) == (70, 40, 9, 8)


def test_chunks_are_not_followed_without_end():
    late = png(70, 40, *[chunk(b"tEXt")] * 100, chunk(b"acTL", pack(">II", 9, 0)))
    assert probe(late).frames == 1


@pytest.mark.parametrize(
    "data",
    [
        png(0, 40),
        png(70, 0),
        png(2**31, 1),
        png(70, 40)[:20],
        b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", bytes(13)),
    ],
)
def test_a_png_without_a_usable_header_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/png"):
        probe(data)
