"""FLAC: the STREAMINFO block."""

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def file(rate, samples, kind=0):
    fields = (rate << 44 | 1 << 41 | 15 << 36 | samples).to_bytes(8, "big")
    return b"fLaC" + bytes([kind, 0, 0, 34]) + bytes(10) + fields + bytes(16)


@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_a_real_file(sample, shape):
    header = probe(shape(sample("tone_2s.flac")))
    assert (header.mime, header.modality) == ("audio/flac", Ability.AUDIO)
    assert (header.duration_us, header.sized) == (2_000_000, True)


def test_a_flag_on_the_last_block_and_many_samples():
    assert probe(file(96_000, 2**36 - 1, kind=0x80)).duration_us == (2**36 - 1) * 1_000_000 // 96_000


def test_a_stream_whose_writer_did_not_know_its_length_is_unsized():
    header = probe(file(44_100, 0))
    assert (header.duration_us, header.sized) == (0, False)


@pytest.mark.parametrize("data", [b"fLaC", file(44_100, 9)[:20], file(0, 9), file(44_100, 9, kind=4)])
def test_a_flac_without_its_first_block_is_malformed(data):
    with pytest.raises(MalformedMedia, match="audio/flac"):
        probe(data)
