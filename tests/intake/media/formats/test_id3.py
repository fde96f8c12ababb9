"""Tags before a sound."""

import pytest

from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def tag(size, flags=0):
    return (
        b"ID3\x04\x00"
        + bytes([flags, size >> 21 & 0x7F, size >> 14 & 0x7F, size >> 7 & 0x7F, size & 0x7F])
        + bytes(size)
    )


@pytest.mark.parametrize("name", ["tone_2s_vbr_bare.mp3", "tone_2s.aac", "tone_2s.flac"])
@pytest.mark.parametrize("tags", [tag(0), tag(300), tag(20) + tag(5), tag(40, flags=0x10) + bytes(10)])
def test_the_sound_behind_is_measured(sample, name, tags):
    assert probe(tags + sample(name)) == probe(sample(name))


@pytest.mark.parametrize("data", [tag(10), tag(10) + bytes(40), tag(2**28 - 1)[:99], tag(0) * 5 + b"fLaC"])
def test_without_a_sound_at_once_behind_it_is_named(data):
    header = probe(data)
    assert (header.mime, header.duration_us, header.sized) == ("audio/mpeg", 0, False)


@pytest.mark.parametrize("data", [b"ID3", b"ID3\x04\x00\x00\x00", tag(10) + b"fLaC"])
def test_what_is_cut_is_malformed(data):
    with pytest.raises(MalformedMedia, match="audio/"):
        probe(data)
