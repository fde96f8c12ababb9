"""MP4: where moov sits, versions, rotation, fragments, sound, and P11."""

from pathlib import Path
from struct import pack, unpack_from

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media import mp4_track
from forebay.intake.media.boxes import Box, Budget, walk
from forebay.intake.media.formats import mp4
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe
from forebay.intake.tokens.price import price
from forebay.intake.tokens.registry import build

CASES = Path(__file__).parents[3] / "cases"
CLIPS = {
    "p11_300f_10s_128x96.mp4": (300, 10_000_000),
    "p11_300f_10s_moov_at_end.mp4": (300, 10_000_000),
    "p11_6f_3s_128x96.mp4": (6, 3_000_000),
}


@pytest.mark.parametrize("name", CLIPS)
def test_p11_header_of_each_clip(name):
    header = probe((CASES / name).read_bytes())
    assert (header.mime, header.modality, header.width, header.height) == (
        "video/mp4",
        Ability.VIDEO,
        128,
        96,
    )
    assert (header.frames, header.duration_us, header.has_audio) == (*CLIPS[name], False)


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("family", ["qwen2-vl", "qwen3-vl", "internvl"])
def test_p11_frames_follow_the_sampling_and_never_exceed_the_real_ones(name, family):
    header = probe((CASES / name).read_bytes())
    by_rate = build(family, {"sampling": {"fps": 2, "max_frames": 32}})
    by_number = build(family, {"sampling": {"num_frames": 512}})
    frames, duration_us = CLIPS[name]
    assert by_rate.sampling.count(frames, duration_us) == (20 if frames == 300 else 6)
    assert by_number.sampling.count(frames, duration_us) == frames
    assert price(by_rate, header).tokens * frames == price(by_number, header).tokens * by_rate.sampling.count(
        frames, duration_us
    )


def box(kind, *payloads):
    payload = b"".join(payloads)
    return pack(">I", 8 + len(payload)) + kind + payload


FTYP = box(b"ftyp", b"isom", bytes(4), b"isomavc1")
UPRIGHT = (65536, 0, 0, 0, 65536, 0, 0, 0, 2**30)


def tkhd(width=64, height=48, matrix=UPRIGHT, version=0, number=1):
    times = pack(">QQIIQ", 0, 0, number, 0, 0) if version else pack(">IIIII", 0, 0, number, 0, 0)
    return box(
        b"tkhd",
        bytes([version, 0, 0, 7]),
        times,
        bytes(16),
        pack(">9i", *matrix),
        pack(">II", width << 16, height << 16),
    )


def mdhd(scale=1000, duration=2000, version=0):
    times = pack(">QQIQ", 0, 0, scale, duration) if version else pack(">IIII", 0, 0, scale, duration)
    return box(b"mdhd", bytes([version, 0, 0, 0]), times, bytes(4))


def hdlr(kind):
    return box(b"hdlr", bytes(8), kind, bytes(13))


def stsd(width, height):
    return box(b"stsd", pack(">II", 0, 1), box(b"avc1", bytes(24), pack(">HH", width, height), bytes(50)))


def stts(*counts, claimed=None):
    return box(
        b"stts",
        pack(">II", 0, len(counts) if claimed is None else claimed),
        *(pack(">II", n, 40) for n in counts),
    )


def track(handler=b"vide", head=None, media=None, *, tables):
    head, media = tkhd() if head is None else head, mdhd() if media is None else media
    return box(b"trak", head, box(b"mdia", media, hdlr(handler), box(b"minf", box(b"stbl", *tables))))


def movie(*boxes):
    return FTYP + box(b"moov", *boxes)


def test_stored_size_wins_over_shown_size_and_sound_is_noticed():
    header = probe(movie(track(tables=[stsd(720, 576), stts(30, 20)]), track(b"soun", tables=[stts(1)])))
    assert (header.width, header.height, header.frames, header.duration_us, header.has_audio) == (
        720,
        576,
        50,
        2_000_000,
        True,
    )


def test_shown_size_stands_in_and_version_1_boxes_are_read():
    data = movie(
        track(head=tkhd(128, 96, version=1), media=mdhd(90_000, 900_000, version=1), tables=[stts(7)])
    )
    header = probe(data)
    assert (header.width, header.height, header.frames, header.duration_us) == (128, 96, 7, 10_000_000)


@pytest.mark.parametrize(
    ("turn", "orientation"),
    [((1, 0, 0, 1), 1), ((0, 1, -1, 0), 6), ((-1, 0, 0, -1), 3), ((0, -1, 1, 0), 8), ((2, 0, 0, 2), 1)],
)
def test_rotation_is_told_as_orientation(turn, orientation):
    a, b, c, d = (65536 * part for part in turn)
    assert (
        probe(movie(track(head=tkhd(matrix=(a, b, 0, c, d, 0, 0, 0, 2**30)), tables=[stts(7)]))).orientation
        == orientation
    )


def test_a_sound_only_file_is_sound_whatever_its_brand():
    header = probe(movie(track(b"soun", media=mdhd(44_100, 441_000), tables=[stts(430)])))
    assert (header.mime, header.modality, header.duration_us, header.sized) == (
        "audio/mp4",
        Ability.AUDIO,
        10_000_000,
        True,
    )


def test_quicktime_with_and_without_ftyp():
    moov = box(b"moov", track(tables=[stts(7)]))
    assert probe(box(b"ftyp", b"qt  ", bytes(4)) + moov).mime == "video/quicktime"
    assert probe(box(b"wide") + box(b"mdat", bytes(50)) + moov).mime == "video/quicktime"


def test_box_sizes_of_64_bits_and_to_the_end():
    moov = box(b"moov", track(tables=[stts(7)]))
    large = pack(">I4sQ", 1, b"mdat", 16 + 100) + bytes(100)
    assert probe(FTYP + large + pack(">I", 0) + moov[4:]).frames == 7


def test_frames_come_from_stsz_when_the_time_table_is_too_long_or_absent():
    stsz = box(b"stsz", pack(">III", 0, 1, 99))
    assert probe(movie(track(tables=[stsz]))).frames == 99
    long = stts(*[1] * (mp4_track.MAX_TIME_ENTRIES + 1))
    assert probe(movie(track(tables=[long, stsz]))).frames == 99


def test_no_claim_goes_beyond_the_box_that_makes_it():
    assert probe(movie(track(tables=[stts(3, 4, claimed=2**32 - 1)]))).frames == 7


def fragment(number, *frames):
    runs = (box(b"trun", pack(">III", 0, count, 0)) for count in frames)
    return box(b"moof", box(b"mfhd", bytes(8)), box(b"traf", box(b"tfhd", pack(">II", 0, number)), *runs))


def fragmented(*extra):
    return movie(track(media=mdhd(1000, 0), tables=[stsd(64, 48), stts()]), *extra)


@pytest.mark.parametrize("version", [0, 1])
def test_fragments_are_counted_for_the_video_track_only(version):
    mvhd = box(b"mvhd", bytes([version]), bytes(19 if version else 11), pack(">I", 600), bytes(80))
    mehd = box(b"mehd", bytes([version, 0, 0, 0]), pack(">Q" if version else ">I", 3000))
    data = (
        fragmented(mvhd, box(b"mvex", mehd))
        + fragment(1, 10, 5)
        + box(b"mdat", bytes(9))
        + fragment(2, 40)
        + fragment(1, 5)
    )
    header = probe(data)
    assert (header.frames, header.duration_us, header.sized) == (20, 5_000_000, True)


@pytest.mark.parametrize(
    "extra",
    [
        (),
        (box(b"mvex", box(b"mehd", bytes(8))),),
        (box(b"mvhd", bytes(100)), box(b"mvex", box(b"mehd", b"\x01" + bytes(7)))),
        (box(b"mvhd", bytes(100)), box(b"mvex", box(b"mehd", bytes(4)))),
        (box(b"mvhd", bytes(100)), box(b"mvex", box(b"mehd", bytes(8)))),
        (box(b"mvhd", bytes(4)), box(b"mvex", box(b"mehd", bytes(8)))),
        (box(b"mvex", bytes(3)),),
    ],
)
def test_a_fragmented_clip_of_unknown_length_is_recognised_and_priced_approximately(extra):
    header = probe(
        fragmented(*extra) + fragment(1, 10) + box(b"moof", box(b"traf", box(b"tfhd"), box(b"trun")))
    )
    assert (header.width, header.frames, header.sized) == (64, 10, False)
    assert not price(build("qwen2-vl"), header).exact


@pytest.mark.parametrize("media", [mdhd(0, 5), mdhd(1000, 2**32 - 1), mdhd(1000, 2**64 - 1, version=1), box(b"mdhd", bytes(12)), box(b"mdhd"), box(b"mdhd", b"\x09", bytes(40))])  # fmt: skip
def test_an_unknown_duration_is_marked(media):
    header = probe(movie(track(media=media, tables=[stts(7)])))
    assert (header.duration_us, header.sized) == (0, False)


@pytest.mark.parametrize(
    "data",
    [
        FTYP,
        FTYP + box(b"mdat", bytes(100)),
        movie(),
        movie(track(b"text", tables=[stts(1)])),
        movie(box(b"trak")),
        movie(track(head=tkhd(0, 0), tables=[stts(1)])),
        movie(track(head=b"", tables=[stts(1)])),
        movie(track(head=tkhd()[:40], tables=[stts(1)])),
        movie(box(b"trak", tkhd(), box(b"mdia", hdlr(b"vide"), box(b"minf")), box(b"mdia", bytes(9))))[:-60],
        FTYP + pack(">I4s", 7, b"free") + box(b"moov", track(tables=[stts(7)])),
        FTYP + pack(">I4sI", 1, b"free", 0),
        FTYP + box(b"free") * mp4.MAX_BOXES + box(b"moov", track(tables=[stts(7)])),
    ],
)
def test_a_movie_without_a_usable_track_is_malformed(data):
    with pytest.raises(MalformedMedia, match="video/"):
        probe(data)


def test_the_budget_bounds_all_levels_together():
    budget = Budget(5)
    data = box(b"free") * 10
    assert len(list(walk(data, 0, len(data), budget))) == 5
    assert list(walk(data, 0, len(data), budget)) == []


def test_a_box_is_cut_to_its_parent():
    assert list(walk(pack(">I4s", 1000, b"moov") + bytes(8), 0, 16, Budget(9))) == [Box(b"moov", 8, 16)]


def test_a_real_quicktime_movie(sample):
    header = probe(sample("clip_2s_20f_64x48.mov"))
    assert (header.mime, header.width, header.height) == ("video/quicktime", 64, 48)
    assert (header.frames, header.duration_us, header.has_audio, header.sized) == (20, 2_000_000, False, True)


def test_a_quicktime_movie_from_before_ftyp_existed(sample):
    data = sample("clip_2s_20f_64x48.mov")
    (ftyp,) = unpack_from(">I", data)
    assert probe(data[ftyp:]) == probe(data)


def test_a_real_m4a_is_as_long_as_what_is_played_of_it(sample):
    header = probe(sample("tone_2s.m4a"))
    assert (header.mime, header.modality, header.sized) == ("audio/mp4", Ability.AUDIO, True)
    assert header.duration_us == 2_000_000


def elst(*edits, version=0):
    layout = ">QqI" if version else ">IiI"
    entries = b"".join(pack(layout, 2_000, media_time, 1 << 16) for media_time in edits)
    return box(b"edts", box(b"elst", pack(">BxxxI", version, len(edits)), entries))


@pytest.mark.parametrize(
    ("edits", "duration_us"),
    [
        (elst(64), 1_936_000),
        (elst(64, version=1), 1_936_000),
        (elst(-1, 64, 9), 1_936_000),
        (elst(-1), 2_000_000),
        (elst(), 2_000_000),
        (elst(3_000), 0),
        (box(b"edts", box(b"elst", bytes(7), b"\x01", bytes(8))), 2_000_000),
        (box(b"edts", box(b"elst")), 2_000_000),
        (elst(*[-1] * 4, 64), 2_000_000),
    ],
)
def test_the_delay_of_a_sounds_codec_is_not_played(edits, duration_us):
    media = box(b"mdia", mdhd(), hdlr(b"soun"), box(b"minf", box(b"stbl", stts(50))))
    assert probe(movie(box(b"trak", tkhd(), edits, media))).duration_us == duration_us


def test_edits_of_a_video_change_nothing():
    media = box(b"mdia", mdhd(), hdlr(b"vide"), box(b"minf", box(b"stbl", stts(50))))
    assert probe(movie(box(b"trak", tkhd(), elst(64), media))).duration_us == 2_000_000


def test_real_fragments_are_added_up(sample):
    sound = probe(sample("tone_2s_fragmented.m4a"))
    assert (sound.mime, sound.duration_us, sound.sized) == (
        "audio/mp4",
        33_024 * 1_000_000 // 16_000,
        True,
    )
    video = probe(sample("clip_2s_20f_64x48_fragmented.mp4"))
    assert (video.frames, video.duration_us, video.has_audio, video.sized) == (20, 2_064_062, True, True)
