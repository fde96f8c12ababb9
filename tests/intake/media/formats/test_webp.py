"""WebP, built by hand."""

from struct import pack

import pytest

from forebay.intake.media.formats import webp
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def riff(*chunks):
    body = b"WEBP" + b"".join(
        kind + pack("<I", len(payload)) + payload + b"\x00" * (len(payload) % 2) for kind, payload in chunks
    )
    return b"RIFF" + pack("<I", len(body)) + body


def extended(flags, width=300, height=200):
    return b"VP8X", bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(
        3, "little"
    )


def test_the_extended_file_is_walked_to_animation_and_exif(exif_block):
    data = riff(
        extended(0x0A), (b"ANMF", bytes(17)), (b"ANMF", b""), (b"EXIF", b"Exif\x00\x00" + exif_block(6))
    )
    header = probe(data)
    assert (header.width, header.height, header.frames, header.orientation) == (300, 200, 2, 6)


def test_bare_exif(exif_block):
    assert probe(riff(extended(0x08), (b"VP8 ", bytes(10)), (b"EXIF", exif_block(5, ">")))).orientation == 5


def test_without_flags_nothing_is_walked():
    assert probe(riff(extended(0), (b"ANMF", b""), (b"ANMF", b""))).frames == 1


def test_frames_are_a_lower_bound_beyond_the_chunk_limit():
    assert probe(riff(extended(2), *[(b"ANMF", b"")] * 5000)).frames == webp.MAX_CHUNKS - 1


@pytest.mark.parametrize(
    "data",
    [
        riff(),
        riff((b"VP8 ", b"")),
        riff((b"VP8 ", bytes(20))),
        riff((b"VP8L", b"\x2f")),
        riff((b"VP8L", bytes(5))),
        riff((b"ICCP", bytes(30))),
        riff((b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a" + bytes(20))),
    ],
)
def test_a_webp_without_a_usable_picture_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/webp"):
        probe(data)
