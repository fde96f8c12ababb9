"""Which format some bytes are, and the public cases of P07 to P10."""

import json
from pathlib import Path

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.dataurl import decode_data_url
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.limits import MediaLimits, check
from forebay.intake.media.probe import probe
from forebay.intake.tokens.price import price
from forebay.intake.tokens.registry import build

CASES = Path(__file__).parents[2] / "cases"


def case(name):
    return (CASES / name).read_bytes()


RASTER = [
    ("p10_still_64x48.webp", "image/webp", 1),
    ("p10_lossless_64x48.webp", "image/webp", 1),
    ("p10_animated_5f_64x48.webp", "image/webp", 5),
    ("p10_animated_12f_64x48.gif", "image/gif", 12),
    ("p10_cmyk_64x48.jpg", "image/jpeg", 1),
    ("p10_gray16_64x48.png", "image/png", 1),
    ("p10_palette_alpha_64x48.png", "image/png", 1),
    ("p10_progressive_64x48.jpg", "image/jpeg", 1),
    ("p10_bmp_64x48.bmp", "image/bmp", 1),
    ("p10_tiff_be_64x48.tif", "image/tiff", 1),
    ("p10_heic_64x48.heic", "image/heic", 1),
    ("p10_avif_64x48.avif", "image/avif", 1),
]


@pytest.mark.parametrize(("name", "mime", "frames"), RASTER)
@pytest.mark.parametrize("shape", [bytes, bytearray, memoryview])
def test_p10_raster_formats_give_size_and_frames(name, mime, frames, shape):
    header = probe(shape(case(name)))
    assert (header.mime, header.modality, header.sized) == (mime, Ability.IMAGE, True)
    assert (header.width, header.height, header.frames) == (64, 48, frames)


@pytest.mark.parametrize(("name", "mime", "frames"), RASTER)
def test_p10_an_animation_is_priced_as_one_picture(name, mime, frames):
    assert price(build("qwen2-vl"), probe(case(name))).tokens == build("qwen2-vl").image(64, 48).tokens


def test_p10_svg_is_no_picture_and_is_not_parsed():
    assert probe(case("p10_not_an_image.svg")) is None


@pytest.mark.parametrize("name", ["p08_tail_cut_280x140.jpg", "p08_idat_garbled_280x140.png"])
def test_p08_the_header_is_enough_when_pixels_are_broken(name):
    header = probe(case(name))
    assert (header.width, header.height) == (280, 140)
    assert price(build("qwen2-vl"), header).tokens == 50


def test_p08_a_cut_header_is_malformed():
    with pytest.raises(MalformedMedia, match="image/jpeg"):
        probe(case("p08_header_cut.jpg"))


def test_p09_a_bomb_is_refused_from_its_header():
    refusal = check(probe(case("p09_bomb_30000x30000.png")), MediaLimits())
    assert refusal.code == "image_too_large"
    assert "30000x30000" in refusal.message


def test_p12_thirty_three_small_pictures_add_up():
    parts = json.loads(case("p12_33_images.json"))["messages"][0]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    costs = [price(build("qwen2-vl"), probe(decode_data_url(url).data)) for url in urls]
    assert (len(costs), sum(cost.tokens for cost in costs)) == (33, 1650)


@pytest.mark.parametrize("applies_exif", [True, False])
def test_p07_orientation_does_not_change_a_symmetric_grid(applies_exif):
    header = probe(case("p07_exif6_420x140.jpg"))
    assert (header.width, header.height, header.orientation) == (420, 140, 6)
    assert price(build("qwen2-vl", {"applies_exif": applies_exif}), header).tokens == 75


@pytest.mark.parametrize(("applies_exif", "upright"), [(True, (140, 420)), (False, (420, 140))])
@pytest.mark.parametrize("family", ["internvl", "llava-next", "pixtral"])
def test_p07_tiles_are_cut_from_the_turned_picture_only_if_the_engine_turns_it(family, applies_exif, upright):
    rules = build(family, {"applies_exif": applies_exif})
    assert price(rules, probe(case("p07_exif6_420x140.jpg"))) == build(family).image(*upright)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"B",
        b"BM",
        b"BMW is a make of car, and this is plain text",
        b"RIFF\x00\x00\x00\x00CDXA",
        b"GIF90a",
        b"\xff",
        b"\xff\xfe\x41\x00",  # UTF-16 text
        b"\xff\xfb\xf0\x64",  # reserved bit rate
        b"\xff\xfb\x9c\x64",  # reserved sampling rate
        b"\xff\xf1\x3c\x80",  # reserved sampling rate of ADTS
        b"<html>",
        b"%PDF-1.7",
    ],
)
def test_what_is_no_media_is_none(data):
    assert probe(data) is None
