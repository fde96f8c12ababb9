"""Caps on media, from the header alone."""

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.header import MediaHeader
from forebay.intake.media.limits import MediaLimits, check, check_count

LIMITS = MediaLimits(
    max_pixels=100, max_item_bytes=50, max_items=3, max_duration_seconds=2.5, max_video_frames=9
)


def header(modality=Ability.IMAGE, **measures):
    return MediaHeader("x/y", modality, **measures)


@pytest.mark.parametrize(
    ("item", "size_bytes", "code"),
    [
        (header(width=10, height=10), 50, None),
        (header(width=10, height=11), 0, "image_too_large"),
        (header(width=1, height=1), 51, "image_too_many_bytes"),
        (header(Ability.AUDIO, duration_us=2_500_000), 0, None),
        (header(Ability.AUDIO, duration_us=2_500_001), 0, "audio_too_long"),
        (header(Ability.AUDIO), 51, "audio_too_many_bytes"),
        (header(Ability.VIDEO, width=10, height=10, frames=9), 0, None),
        (header(Ability.VIDEO, width=100, height=10, frames=9), 0, "video_too_large"),
        (header(Ability.VIDEO, width=10, height=10, frames=10), 0, "video_too_long"),
        (header(Ability.IMAGE, width=10, height=10, frames=10), 0, None),
        (header(sized=False), 0, None),
    ],
)
def test_check(item, size_bytes, code):
    refusal = check(item, LIMITS, size_bytes)
    assert (refusal and refusal.code) == code


def test_p12_the_number_of_items_has_its_own_cap():
    assert check_count(3, LIMITS) is None
    assert check_count(33, LIMITS).code == "too_many_media_items"
    assert "33" in check_count(33, LIMITS).message


def test_the_default_lets_a_phone_photo_pass_and_stays_under_what_pillow_refuses():
    assert check(header(width=12_000, height=9_000), MediaLimits()) is None
    assert MediaLimits().max_pixels < 178_956_970
