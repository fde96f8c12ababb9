"""EXIF blocks: orientation, and what leaves a picture as it is stored."""

from struct import pack

import pytest

from forebay.intake.media import exif


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_in_both_byte_orders(exif_block, order, orientation):
    assert exif.orientation(exif_block(orientation, order, entries=3)) == orientation


@pytest.mark.parametrize(("orientation", "more"), [(0, {}), (9, {}), (6, {"kind": 2})])
def test_what_is_no_orientation_leaves_the_picture_as_stored(exif_block, orientation, more):
    assert exif.orientation(exif_block(orientation, **more)) == 1


@pytest.mark.parametrize("kept_bytes", range(21))
def test_a_block_that_is_cut_leaves_the_picture_as_stored(exif_block, kept_bytes):
    assert exif.orientation(exif_block(6)[:kept_bytes]) == 1


@pytest.mark.parametrize("data", [b"XX*\x00" + bytes(20), b"II*\x00\xff\xff\xff\xff\x00\x00", b"II+\x00\x08\x00\x00\x00" + b"\xff" * 8])  # fmt: skip
def test_strange_blocks_leave_the_picture_as_stored(data):
    assert exif.orientation(data) == 1


def test_a_block_without_the_tag():
    assert exif.orientation(b"II*\x00" + pack("<IH", 8, 1) + pack("<HHII", 0x010F, 2, 1, 0)) == 1
