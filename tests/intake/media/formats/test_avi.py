"""AVI: its header lists."""

from struct import pack

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.formats import avi
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe


def chunk(kind, payload):
    return kind + pack("<I", len(payload)) + payload + b"\0" * (len(payload) % 2)


def sequence(kind, *chunks):
    return chunk(b"LIST", kind + b"".join(chunks))


def avih(width=64, height=48, frames=30, frame_us=40_000):
    return chunk(b"avih", pack("<I12xI12xII16x", frame_us, frames, width, height))


def strh(kind=b"vids", scale=1, rate=25, length=50):
    return sequence(
        b"strl", chunk(b"strh", pack("<4s16xII4xI20x", kind, scale, rate, length)), chunk(b"strf", bytes(40))
    )


def file(*header):
    return b"RIFF\0\0\0\0AVI " + sequence(b"hdrl", *header) + sequence(b"movi", avih(9, 9))


@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_a_real_file(sample, shape):
    header = probe(shape(sample("clip_2s_20f_64x48.avi")))
    assert (header.mime, header.modality, header.width, header.height) == (
        "video/x-msvideo",
        Ability.VIDEO,
        64,
        48,
    )
    assert (header.frames, header.duration_us, header.has_audio, header.sized) == (20, 2_000_000, False, True)


def test_the_streams_own_count_comes_before_the_files():
    header = probe(file(avih(), strh(b"auds"), strh(), strh(length=9)))
    assert (header.frames, header.duration_us, header.has_audio) == (50, 2_000_000, True)


@pytest.mark.parametrize("streams", [(), (strh(rate=0),), (strh(b"auds"),)])
def test_the_files_count_where_no_stream_has_one(streams):
    header = probe(file(avih(), *streams))
    assert (header.frames, header.duration_us) == (30, 1_200_000)


@pytest.mark.parametrize("count", [avih(frames=0), avih(frame_us=0)])
def test_a_file_that_was_never_closed_is_unsized(count):
    assert not probe(file(count)).sized


@pytest.mark.parametrize(
    "data",
    [
        b"RIFF\0\0\0\0AVI LIST",
        file(),
        file(strh()),
        file(avih(0, 48)),
        file(avih())[:60],
        file(*[chunk(b"JUNK", b"")] * avi.MAX_CHUNKS, avih()),
    ],
)
def test_an_avi_without_a_usable_header_is_malformed(data):
    with pytest.raises(MalformedMedia, match="video/x-msvideo"):
        probe(data)
