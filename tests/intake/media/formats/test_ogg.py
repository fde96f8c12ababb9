"""Ogg: the first pages and the last."""

from struct import pack

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.formats import ogg
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def page(packet, granule=0, serial=1, flags=0, version=0):
    lacing = [255] * (len(packet) // 255) + [len(packet) % 255]
    head = pack("<4sBBqIII", b"OggS", version, flags, granule, serial, 0, 0)
    return head + bytes([len(lacing), *lacing]) + packet


def begins(packet, serial=1):
    return page(packet, 0, serial, flags=2)


def opus(skipped):
    return b"OpusHead\x01\x01" + pack("<HIhB", skipped, 16_000, 0, 0)


def vorbis(rate):
    return b"\x01vorbis" + pack("<IBI", 0, 1, rate) + bytes(14)


@pytest.mark.parametrize("name", ["tone_2s_opus.ogg", "tone_2s_vorbis.ogg", "tone_2s_flac.ogg"])
@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_real_sounds_are_as_long_as_their_decoded_samples(sample, name, shape):
    header = probe(shape(sample(name)))
    assert (header.mime, header.modality) == ("audio/ogg", Ability.AUDIO)
    assert (header.duration_us, header.sized) == (2_000_000, True)


def test_a_real_video(sample):
    header = probe(sample("clip_2s_20f_64x48_theora.ogg"))
    assert (header.mime, header.width, header.height) == ("video/ogg", 64, 48)
    assert (header.frames, header.duration_us, header.has_audio, header.sized) == (20, 2_000_000, False, True)


def test_opus_skips_its_start_and_counts_at_48_khz():
    assert probe(begins(opus(312)) + page(b"x", 48_312)).duration_us == 1_000_000


def test_speex():
    assert (
        probe(begins(b"Speex   " + bytes(28) + pack("<I", 8_000)) + page(b"x", 4_000)).duration_us == 500_000
    )


def test_only_the_streams_own_last_page_counts():
    data = begins(vorbis(1_000), 1) + begins(b"other", 2) + page(b"x", 3_000, 1) + page(b"x", 9_000, 2)
    data += page(b"x", -1, 1) + page(b"x", 7_000, 1, version=9) + page(b"OggS", 8_000, 3)[:-5] + b"OggS"
    assert probe(data).duration_us == 3_000_000


def test_a_sound_beside_an_unknown_stream_and_a_video_beside_a_sound():
    assert probe(begins(b"fishead", 2) + begins(vorbis(1_000)) + page(b"x", 1_000)).duration_us == 1_000_000
    theora = (
        b"\x80theora\3\2\1"
        + pack(">HH3s3sHII", 4, 3, b"\0\0\x40", b"\0\0\x30", 0, 25, 1)
        + bytes(10)
        + pack(">H", 6 << 5)
    )
    video = probe(begins(vorbis(1_000), 2) + begins(theora) + page(b"x", 2 << 6 | 3))
    assert (video.width, video.height, video.frames, video.has_audio) == (64, 48, 5, True)
    assert video.duration_us == 200_000


@pytest.mark.parametrize(
    "data",
    [
        begins(opus(312)),
        begins(opus(312)) + page(b"x", 100),
        begins(vorbis(0)) + page(b"x", 100),
        begins(b"unknown") + page(b"x", 100),
        begins(opus(0)) + bytes(2 * ogg.LONGEST_PAGE_BYTES),
        begins(opus(0)) + page(b"x", 9_000) + page(b"y", 9, serial=2) * (ogg.MAX_LAST_PAGES + 1),
    ],
    ids=["no-pages", "less-than-skipped", "no-rate", "unknown-codec", "no-page-near-the-end", "end-not-near"],
)
def test_a_sound_of_unknown_length_is_recognised(data):
    header = probe(data)
    assert (header.mime, header.duration_us, header.sized) == ("audio/ogg", 0, False)


@pytest.mark.parametrize("data", [b"OggS", page(b"x"), begins(b"\x01vorbis"), begins(b"\x7fFLAC" + bytes(9)), begins(b"\x80theora"), begins(b"Speex   ")])  # fmt: skip
def test_an_ogg_without_a_usable_start_is_malformed(data):
    with pytest.raises(MalformedMedia, match=r"(audio|video)/"):
        probe(data)
