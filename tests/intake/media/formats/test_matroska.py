"""Matroska and WebM: what stands before the clusters, and live recordings."""

from struct import pack

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.formats import matroska as mk
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe

UNKNOWN = b"\x01" + b"\xff" * 7


def element(kind, *payloads, size=None):
    body = b"".join(payloads)
    size = pack(">Q", len(body) | 1 << 56) if size is None else size
    return kind.to_bytes((kind.bit_length() + 7) // 8, "big") + size + body


def number(kind, value):
    return element(kind, value.to_bytes(8, "big"))


def head(doc_type=b"webm"):
    return element(0x1A45DFA3, number(0x4286, 1), element(mk.DOC_TYPE, doc_type))


def info(duration=None, scale=1_000_000):
    stated = [element(mk.DURATION, pack(">d", duration))] if duration is not None else []
    return element(mk.INFO, number(mk.TIMESTAMP_SCALE, scale), *stated)


def track(kind, track_number=1, frame_ns=0, size=(64, 48)):
    video = element(mk.VIDEO, number(mk.PIXEL_WIDTH, size[0]), number(mk.PIXEL_HEIGHT, size[1]))
    more = [number(mk.DEFAULT_DURATION, frame_ns)] if frame_ns else []
    return element(
        mk.TRACK,
        number(mk.NUMBER, track_number),
        number(mk.TYPE, kind),
        *more,
        *([video] if kind == 1 else []),
    )


def tracks(*entries):
    return element(mk.TRACKS, *entries)


def block(time, track_number=1, kind=mk.SIMPLE_BLOCK):
    return element(kind, bytes([0x80 | track_number]) + pack(">hB", time, 0) + b"data")


def cluster(at, *blocks, size=None):
    return element(mk.CLUSTER, number(mk.TIMESTAMP, at), *blocks, size=size)


def file(*children, doc_type=b"webm", size=None):
    return head(doc_type) + element(mk.SEGMENT, *children, size=size)


VIDEO, SOUND = track(1, 1, 40_000_000), track(2, 2)


@pytest.mark.parametrize(
    ("name", "mime", "frames", "duration_us", "sized"),
    [
        ("clip_2s_20f_64x48.webm", "video/webm", 20, 2_000_000, True),
        ("clip_2s_20f_64x48_live.webm", "video/webm", 20, 2_000_000, False),
        ("clip_2s_20f_64x48_sound.mkv", "video/x-matroska", 21, 2_064_000, True),  # as long as its sound
    ],
)
@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_real_clips(sample, name, mime, frames, duration_us, sized, shape):
    header = probe(shape(sample(name)))
    assert (header.mime, header.modality, header.width, header.height) == (mime, Ability.VIDEO, 64, 48)
    assert (header.frames, header.duration_us, header.sized) == (frames, duration_us, sized)
    assert header.has_audio == ("sound" in name)


@pytest.mark.parametrize(("name", "sized"), [("tone_2s_opus.webm", True), ("tone_2s_opus_live.webm", False)])
def test_real_sounds(sample, name, sized):
    header = probe(sample(name))
    assert (header.mime, header.modality, header.sized) == ("audio/webm", Ability.AUDIO, sized)
    assert header.duration_us == pytest.approx(2_000_000, abs=2_000 if sized else 20_000)  # one frame


@pytest.mark.parametrize(("delay_ns", "duration_us"), [(6_500_000, 993_500), (2_000_000_000, 0)])
def test_what_a_decoder_cuts_off_is_no_sound(delay_ns, duration_us):
    entry = element(mk.TRACK, number(mk.TYPE, 2), number(mk.CODEC_DELAY, delay_ns))
    assert probe(file(info(1_000.0), tracks(entry))).duration_us == duration_us


def test_a_scale_of_its_own_and_a_segment_without_a_size():
    header = probe(
        file(info(500.0, scale=2_000_000), tracks(SOUND, VIDEO), doc_type=b"matroska", size=UNKNOWN)
    )
    assert (header.mime, header.frames, header.duration_us, header.has_audio) == (
        "video/x-matroska",
        25,
        1_000_000,
        True,
    )


def test_tracks_behind_the_clusters_are_found():
    header = probe(
        file(info(1000.0), cluster(0, block(0)), cluster(500, block(0), size=UNKNOWN), tracks(VIDEO))
    )
    assert (header.width, header.frames) == (64, 25)


@pytest.mark.parametrize("size", [None, UNKNOWN])
def test_a_live_recording_is_as_long_as_its_blocks(size):
    blocks = [block(time, kind) for time in range(0, 1000, 40) for kind in (1, 2)]
    grouped = [element(mk.BLOCK_GROUP, block(time, 1, mk.BLOCK)) for time in range(0, 1000, 40)]
    clusters = cluster(5_000, *blocks, size=size), cluster(6_000, *grouped, size=size)
    header = probe(file(info(), tracks(VIDEO, SOUND), *clusters, size=size))
    assert (header.frames, header.duration_us, header.sized) == (50, 2_000_000, False)


def test_beyond_the_budget_a_live_recording_is_an_estimate():
    clusters = [cluster(1_000 * second, *[block(20 * each) for each in range(50)]) for second in range(600)]
    header = probe(file(info(), tracks(track(2)), *clusters))
    assert header.duration_us == pytest.approx(600_000_000, rel=0.02)
    assert not header.sized


def test_a_stated_duration_without_a_frame_rate_counts_blocks():
    header = probe(file(info(3_000.0), tracks(track(1)), cluster(0, block(0), block(40))))
    assert (header.frames, header.duration_us, header.sized) == (2, 3_000_000, False)


@pytest.mark.parametrize(
    ("children", "modality"),
    [
        ((), Ability.VIDEO),
        ((info(10.0), tracks(track(17))), Ability.VIDEO),
        ((info(), tracks(SOUND)), Ability.AUDIO),
        ((info(-5.0), tracks(SOUND), cluster(0, block(0, 2))), Ability.AUDIO),
        ((info(float("nan")), tracks(SOUND), cluster(9, block(0, 2)), cluster(0, block(0, 2))), Ability.AUDIO),
        ((info(), tracks(SOUND), cluster(0, element(mk.SIMPLE_BLOCK, b"\x40\0\0"), element(mk.BLOCK, b"\x40\x02\0\0"))), Ability.AUDIO),
    ],
)  # fmt: skip
def test_what_tells_nothing_is_recognised(children, modality):
    header = probe(file(*children))
    assert (header.modality, header.duration_us, header.sized) == (modality, 0, False)


@pytest.mark.parametrize(
    "data",
    [
        mk.MAGIC,
        mk.MAGIC + b" not known",
        head(),
        head() + element(mk.INFO),
        file(info(), tracks(track(1, size=(0, 48)))),
    ],
)
def test_a_file_without_a_segment_or_a_picture_without_area_is_malformed(data):
    with pytest.raises(MalformedMedia, match="video/"):
        probe(data)
