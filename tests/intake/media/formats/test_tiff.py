"""TIFF and BigTIFF, by real encoders and by hand."""

from struct import pack

import pytest

from forebay.intake.media.formats import tiff
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe

SHORT, LONG, LONG8 = 3, 4, 16


def directory(*tags, behind=0, order="<"):
    """Entries of (tag, type, value)."""
    layouts = {SHORT: "HHIHxx", LONG: "HHII"}
    entries = b"".join(pack(order + layouts[kind], tag, kind, 1, value) for tag, kind, value in tags)
    return pack(order + "H", len(tags)) + entries + pack(order + "I", behind)


def file(*directories):
    return b"II*\x00" + pack("<I", 8) + b"".join(directories)


SIZE = (0x100, LONG, 64), (0x101, SHORT, 48)
ONE = 2 + 2 * 12 + 4


@pytest.mark.parametrize(
    ("name", "pages"),
    [("grey_64x48_le.tif", 1), ("motorola_64x48.tif", 1), ("big_64x48.tif", 1), ("big_be_64x48.tif", 1), ("pages3_64x48.tif", 3)],
)  # fmt: skip
@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_both_byte_orders_both_offset_sizes_and_pages(sample, name, pages, shape):
    header = probe(shape(sample(name)))
    assert (header.mime, header.width, header.height, header.frames) == ("image/tiff", 64, 48, pages)
    assert (header.orientation, header.sized) == (1, True)


def test_a_turned_picture_is_measured_upright_as_decoders_give_it(sample):
    header = probe(sample("turned6_64x48.tif"))
    assert (header.width, header.height, header.orientation) == (48, 64, 1)


def test_a_chain_that_bites_its_tail_ends():
    data = file(directory(*SIZE, behind=8 + ONE), directory(behind=8))
    assert (probe(data).pixels, probe(data).frames) == (64 * 48, 2)


def test_a_chain_that_is_cut_counts_what_is_there():
    assert probe(file(directory(*SIZE, behind=8 + ONE))).frames == 2
    assert probe(file(directory(*SIZE))[:-3]).frames == 1


def test_pages_are_a_lower_bound_beyond_the_limit():
    pages = [directory(*SIZE, behind=8 + ONE)]
    pages += [directory(behind=8 + ONE + 6 * number) for number in range(1, 3 * tiff.MAX_PAGES)]
    assert probe(file(*pages)).frames == tiff.MAX_PAGES


@pytest.mark.parametrize(
    "data",
    [
        b"II*\x00",
        b"II*\x00\xff\xff\xff\xff",
        b"II+\x00\x08\x00\x00\x00" + b"\xff" * 8,
        file(directory()),
        file(directory(SIZE[0])),
        file(directory((0x100, SHORT, 0), SIZE[1])),
        file(directory(SIZE[1], SIZE[1])),
        file(directory(*SIZE))[:30],
    ],
)
def test_a_tiff_without_a_usable_first_directory_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/tiff"):
        probe(data)


def test_tags_beyond_any_camera_are_not_looked_for():
    padding = [(0x8000 + number, SHORT, 0) for number in range(300)]
    with pytest.raises(MalformedMedia, match="0x0"):
        probe(file(directory(*padding, *SIZE)))
