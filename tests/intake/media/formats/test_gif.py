"""GIF, built by hand."""

from struct import pack

import pytest

from forebay.intake.media.formats import gif
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def screen(width, height, flags=0):
    return b"GIF89a" + pack("<HHBBB", width, height, flags, 0, 0)


PICTURE = b"\x2c" + bytes(8) + b"\x00\x02\x01\x00\x00"


def test_counts_images_past_tables_and_extensions():
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


def test_frames_are_a_lower_bound_beyond_the_step_limit():
    assert 1 < probe(screen(9, 7) + PICTURE * gif.MAX_STEPS).frames < gif.MAX_STEPS


@pytest.mark.parametrize("data", [b"GIF89a\x01", screen(0, 7)])
def test_a_gif_without_a_usable_header_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/gif"):
        probe(data)
