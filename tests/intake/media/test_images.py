"""PNG, JPEG, GIF, WebP, BMP and their EXIF, built by hand."""

from struct import pack

import pytest

from forebay.intake.media import exif
from forebay.intake.media.formats import gif, jpeg, webp
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def chunk(kind, payload=b""):
    return pack(">I", len(payload)) + kind + payload + bytes(4)


def png(width, height, *chunks):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", pack(">II5x", width, height)) + b"".join(chunks)


def tiff(orientation, order="<", kind=3, entries=1):
    mark = b"II*\x00" if order == "<" else b"MM\x00*"
    other = pack(order + "HHII", 0x010F, 2, 1, 0) * (entries - 1)
    return (
        mark + pack(order + "IH", 8, entries) + other + pack(order + "HHIHH", 0x0112, kind, 1, orientation, 0)
    )


def segment(marker, payload):
    return bytes([0xFF, marker]) + pack(">H", len(payload) + 2) + payload


def frame(width, height, marker=0xC0):
    return segment(marker, pack(">BHHB", 8, height, width, 3) + bytes(9))


SCAN = segment(0xDA, bytes(10))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_in_both_byte_orders(order, orientation):
    assert exif.orientation(tiff(orientation, order, entries=3)) == orientation


@pytest.mark.parametrize(
    "data",
    [b"", b"II*\x00", b"XX*\x00" + bytes(20), tiff(0), tiff(9), tiff(6, kind=2), tiff(6)[:-8], b"II*\x00\xff\xff\xff\xff\x00\x00", tiff(6, entries=1)[:9]],
)  # fmt: skip
def test_unreadable_exif_leaves_the_picture_as_stored(data):
    assert exif.orientation(data) == 1


def test_exif_without_the_tag():
    assert exif.orientation(b"II*\x00" + pack("<IH", 8, 1) + pack("<HHII", 0x010F, 2, 1, 0)) == 1


def test_animated_png_tells_its_frames_and_orientation():
    header = probe(
        png(
            70, 40, chunk(b"acTL", pack(">II", 9, 0)), chunk(b"eXIf", tiff(8)), chunk(b"IDAT"), chunk(b"acTL")
        )
    )
    assert (header.width, header.height, header.frames, header.orientation) == (70, 40, 9, 8)


def test_png_chunks_are_not_followed_without_end():
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


def test_jpeg_skips_fill_bare_markers_tables_and_xmp():
    data = (
        b"\xff\xd8" + b"\xff\xff\xff\xd0" + segment(0xE1, b"http://ns.adobe.com/xap/1.0/\x00") + segment(0xC4, bytes(20))
        + frame(30, 20, 0xC2) + segment(0xE1, b"Exif\x00\x00" + tiff(3)) + SCAN
    )  # fmt: skip
    header = probe(data)
    assert (header.width, header.height, header.orientation) == (30, 20, 3)


def test_jpeg_keeps_its_size_when_all_behind_the_frame_is_cut():
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


def screen(width, height, flags=0):
    return b"GIF89a" + pack("<HHBBB", width, height, flags, 0, 0)


PICTURE = b"\x2c" + bytes(8) + b"\x00\x02\x01\x00\x00"


def test_gif_counts_images_past_tables_and_extensions():
    local = b"\x2c" + bytes(8) + b"\x81" + bytes(12) + b"\x02\x01\x00\x00"
    data = (
        screen(9, 7, 0x81)
        + bytes(12)
        + b"\x21\xf9\x04"
        + bytes(4)
        + b"\x00"
        + PICTURE
        + local
        + b"\x3b"
        + PICTURE
    )
    assert (probe(data).width, probe(data).height, probe(data).frames) == (9, 7, 2)


@pytest.mark.parametrize(
    "tail", [b"", b"\x2c", b"\x21", b"\x21\xf9", PICTURE[:-2], b"\x21\xf9\x04\x00", b"\x00"]
)
def test_a_cut_gif_still_is_one_picture(tail):
    assert probe(screen(9, 7) + tail).frames == 1


def test_gif_frames_are_a_lower_bound_beyond_the_step_limit():
    assert 1 < probe(screen(9, 7) + PICTURE * gif.MAX_STEPS).frames < gif.MAX_STEPS


@pytest.mark.parametrize("data", [b"GIF89a\x01", screen(0, 7)])
def test_a_gif_without_a_usable_header_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/gif"):
        probe(data)


def riff(*chunks):
    body = b"WEBP" + b"".join(
        kind + pack("<I", len(payload)) + payload + b"\x00" * (len(payload) % 2) for kind, payload in chunks
    )
    return b"RIFF" + pack("<I", len(body)) + body


def extended(flags, width=300, height=200):
    return b"VP8X", bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(
        3, "little"
    )


def test_extended_webp_walks_to_animation_and_exif():
    data = riff(extended(0x0A), (b"ANMF", bytes(17)), (b"ANMF", b""), (b"EXIF", b"Exif\x00\x00" + tiff(6)))
    header = probe(data)
    assert (header.width, header.height, header.frames, header.orientation) == (300, 200, 2, 6)


def test_extended_webp_with_bare_exif():
    assert probe(riff(extended(0x08), (b"VP8 ", bytes(10)), (b"EXIF", tiff(5, ">")))).orientation == 5


def test_extended_webp_without_flags_is_not_walked():
    assert probe(riff(extended(0), (b"ANMF", b""), (b"ANMF", b""))).frames == 1


def test_webp_frames_are_a_lower_bound_beyond_the_chunk_limit():
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


def bmp(dib, *size, layout="<ii"):
    return b"BM" + bytes(12) + pack("<I", dib) + pack(layout, *size) + bytes(8)


def test_bmp_rows_from_the_top_and_the_oldest_header():
    assert (probe(bmp(40, 64, -48)).width, probe(bmp(124, 64, -48)).height) == (64, 48)
    assert probe(bmp(12, 64, 48, layout="<HH")).pixels == 64 * 48


@pytest.mark.parametrize("size", [(0, 5), (-5, 5), (5, 0)])
def test_a_bmp_without_area_is_malformed(size):
    with pytest.raises(MalformedMedia, match="image/bmp"):
        probe(bmp(40, *size))
