"""MPEG audio: stated frame counts, and rows of frames without one."""

from struct import pack

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.formats import mp3
from forebay.intake.media.frames import MAX_FRAMES
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe

# MPEG-1 layer III at 44.1 kHz: 128 kbit/s and 64 kbit/s, stereo, without padding.
HEAD_128, SIZE_128 = b"\xff\xfb\x90\x00", 417
HEAD_64, SIZE_64 = b"\xff\xfb\x50\x00", 208
FRAME_128 = HEAD_128 + bytes(SIZE_128 - 4)
FRAME_64 = HEAD_64 + bytes(SIZE_64 - 4)


def length_of(frames, samples=1_152, rate=44_100):
    return frames * samples * 1_000_000 // rate


def stated(kind, flags, *fields, at=36, head=HEAD_128, tail=b""):
    first = head + bytes(at - 4) + kind + pack(">I", flags) + b"".join(fields) + tail
    return first.ljust(SIZE_128, b"\0")


@pytest.mark.parametrize(
    ("name", "samples"),
    [
        ("tone_2s_cbr16k_xing.mp3", 32_000),
        ("tone_2s_vbr_lame.mp3", 32_000),
        ("tone_2s_cbr16k_bare.mp3", 33_408),
        ("tone_2s_vbr_bare.mp3", 33_408),
        ("tone_2s_layer2.mp2", 32_256),
    ],
)
@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_a_real_file_is_as_long_as_its_decoded_samples(sample, name, samples, shape):
    header = probe(shape(sample(name)))
    assert (header.mime, header.modality) == ("audio/mpeg", Ability.AUDIO)
    assert (header.duration_us, header.sized) == (samples * 1_000_000 // 16_000, True)


@pytest.mark.parametrize(
    ("head", "at"),
    [(HEAD_128, 36), (b"\xff\xfb\x90\xc0", 21), (b"\xff\xf3\x90\x00", 21), (b"\xff\xf3\x90\xc0", 13)],
    ids=["mpeg1-stereo", "mpeg1-mono", "mpeg2-stereo", "mpeg2-mono"],
)
def test_the_count_stands_behind_the_side_information(head, at):
    data = stated(b"Xing", 1, pack(">I", 1_000), at=at, head=head) + bytes(30_000)
    mpeg2 = head[1] == 0xF3
    assert probe(data).duration_us == length_of(1_000, *((576, 22_050) if mpeg2 else ()))


def test_lames_delay_and_padding_are_cut_off_wherever_its_tag_stands():
    lame = b"LAME3.100" + bytes(12) + (576 << 12 | 1_000).to_bytes(3, "big")
    for flags, between in ((1, b""), (15, bytes(108))):
        data = stated(b"Info", flags, pack(">I", 500), between, tail=lame) + bytes(30_000)
        assert probe(data).duration_us == (500 * 1_152 - 1_576) * 1_000_000 // 44_100


def test_fraunhofers_header():
    data = HEAD_128 + bytes(32) + b"VBRI" + bytes(10) + pack(">I", 300) + bytes(9_000)
    assert probe(data).duration_us == length_of(300)


@pytest.mark.parametrize(
    "first",
    [
        stated(b"Xing", 0),
        stated(b"Xing", 1, pack(">I", 0)),
        stated(b"Info", 1, pack(">I", 2**32 - 1)),
        FRAME_128,
    ],
    ids=["no-count", "zero", "a-lie", "no-header"],
)
def test_without_a_count_that_can_be_true_frames_are_counted(first):
    assert probe(first + FRAME_64 + FRAME_128).duration_us == length_of(3)


def test_a_tag_at_the_end_is_no_sound():
    assert probe(FRAME_128 * 3 + b"TAG" + bytes(125)).duration_us == length_of(3)
    assert probe(FRAME_128 * (MAX_FRAMES + 9) + b"TAG" + bytes(125)).duration_us == length_of(MAX_FRAMES + 9)


def test_a_long_stream_is_an_estimate_unless_its_bit_rate_is_constant():
    padded = b"\xff\xfb\x92\x00" + bytes(SIZE_128 - 3)
    constant = probe((FRAME_128 + padded) * MAX_FRAMES)
    assert (constant.duration_us, constant.sized) == (length_of(2 * MAX_FRAMES), True)
    mixed = probe((FRAME_128 + FRAME_64) * MAX_FRAMES)
    assert (mixed.duration_us, mixed.sized) == (length_of(2 * MAX_FRAMES), False)


@pytest.mark.parametrize(
    ("head", "size", "samples", "rate"),
    [(b"\xff\xfd\x14\x00", 96, 1_152, 48_000), (b"\xff\xe3\x18\x00", 72, 576, 8_000)],
    ids=["layer2", "mpeg2.5"],
)  # fmt: skip
def test_layers_and_versions(head, size, samples, rate):
    assert probe((head + bytes(size - 4)) * 5).duration_us == length_of(5, samples, rate)


@pytest.mark.parametrize("data", [b"\xff\xfb\x90", b"\xff\xeb\x90\x00", b"\xff\xff\x90\x00" + bytes(9), b"\xff\xfb\xf0\x00", b"\xff\xfb\x00\x00", b"\xff\xfb\x9c\x00"])  # fmt: skip
def test_reserved_values_are_no_frame(data):
    assert probe(data) is None


def test_a_frame_is_needed():
    with pytest.raises(MalformedMedia, match="audio/mpeg"):
        mp3.probe(b"")
