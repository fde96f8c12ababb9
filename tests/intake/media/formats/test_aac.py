"""AAC in ADTS: a row of frames."""

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.frames import MAX_FRAMES
from forebay.intake.media.probe import probe


def frame(size=100, rate=4, blocks=1):
    head = bytes([0xFF, 0xF1, 0x40 | rate << 2, size >> 11, size >> 3 & 0xFF, (size & 7) << 5, blocks - 1])
    return head + bytes(size - 7)


@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_a_real_file_is_as_long_as_its_decoded_samples(sample, shape):
    header = probe(shape(sample("tone_2s.aac")))
    assert (header.mime, header.modality) == ("audio/aac", Ability.AUDIO)
    assert (header.duration_us, header.sized) == (33 * 1024 * 1_000_000 // 16_000, True)


def test_frames_of_several_blocks_and_a_tag_behind_them():
    assert (
        probe(frame(blocks=4) + frame() + b"TAG" + bytes(125)).duration_us == 5 * 1024 * 1_000_000 // 44_100
    )


def test_a_cut_last_frame_counts():
    assert probe((frame() * 3)[:-50]).duration_us == 3 * 1024 * 1_000_000 // 44_100


def test_a_long_stream_is_an_estimate_unless_its_frames_are_alike():
    alike = probe(frame() * (2 * MAX_FRAMES))
    assert (alike.duration_us, alike.sized) == (2 * MAX_FRAMES * 1024 * 1_000_000 // 44_100, True)
    mixed = probe((frame(90) + frame(110)) * MAX_FRAMES)
    assert (mixed.duration_us, mixed.sized) == (alike.duration_us, False)


@pytest.mark.parametrize(
    "data", [frame(rate=13), frame(rate=15), frame()[:6], b"\xff\xf1\x50\x80\x00\x00\x00"]
)
def test_what_no_frame_can_be_is_not_taken_for_aac(data):
    assert probe(data) is None
