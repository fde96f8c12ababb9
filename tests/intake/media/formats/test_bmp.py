"""BMP, built by hand."""

from struct import pack

import pytest

from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def bmp(dib, *size, layout="<ii"):
    return b"BM" + bytes(12) + pack("<I", dib) + pack(layout, *size) + bytes(8)


def test_rows_from_the_top_and_the_oldest_header():
    assert (probe(bmp(40, 64, -48)).width, probe(bmp(124, 64, -48)).height) == (64, 48)
    assert probe(bmp(12, 64, 48, layout="<HH")).pixels == 64 * 48


@pytest.mark.parametrize("size", [(0, 5), (-5, 5), (5, 0)])
def test_a_bmp_without_area_is_malformed(size):
    with pytest.raises(MalformedMedia, match="image/bmp"):
        probe(bmp(40, *size))
