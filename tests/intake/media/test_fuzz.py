"""No bytes make a probe do anything but answer, say None, or raise MalformedMedia."""

import contextlib
from pathlib import Path
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.intake.media import exif
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.limits import MediaLimits, check
from forebay.intake.media.probe import probe
from forebay.intake.tokens.price import price
from forebay.intake.tokens.registry import FAMILIES, build

CASES = Path(__file__).parents[2] / "cases"
FILES = [
    *(
        path
        for pattern in ("p07*", "p09*", "p10*", "p11_*", "p13*.wav")
        for path in sorted(CASES.glob(pattern))
    ),
    *(path for path in sorted((Path(__file__).parent / "samples").iterdir()) if path.suffix != ".md"),
]
SEEDS = [path.read_bytes()[:4096] for path in FILES]
MAGICS = [
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\x00\x00\x00\x00WEBPVP8X", b"RIFF\x00\x00\x00\x00WEBPVP8L",
    b"RIFF\x00\x00\x00\x00WAVEfmt ", b"BM" + bytes(12) + pack("<I", 40), b"\x00\x00\x00\x08ftyp", b"\x00\x00\x00\x08ftyp\x00\x00\x00\x00moov",
    b"OggS\0\2" + bytes(20), b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff", b"\xff\xfb\x90\x00", b"\xff\xf1\x50\x80\x01\x00\x00",
    b"II*\x00\x08\x00\x00\x00", b"MM\x00+\x00\x08\x00\x00", b"fLaC\x00\x00\x00\x22", b"ID3\x04\x00\x00\x00\x00\x00\x00", b"RIFF\x00\x00\x00\x00AVI ",
    b"\x00\x00\x00\x0cftypavif", b"\x00\x00\x00\x0cftypheic\x00\x00\x01\x00meta",
]  # fmt: skip
EXTREMES = [0, 1, 7, 8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF8]
RULES = [build(family) for family in FAMILIES]


def survive(data):
    try:
        header = probe(data)
    except MalformedMedia:
        return
    if header is None:
        return
    assert 1 <= header.orientation <= 8
    assert min(header.width, header.height, header.frames, header.duration_us) >= 0
    if check(header, MediaLimits()) is None:
        for rules in RULES:
            cost = price(rules, header)
            assert cost is None or cost.tokens > 0


@given(st.sampled_from(MAGICS), st.binary(max_size=400))
@settings(deadline=None)
def test_random_bytes_behind_every_magic(magic, tail):
    survive(magic + tail)
    survive(memoryview(tail))


@given(st.sampled_from(SEEDS), st.data())
@settings(deadline=None, max_examples=300)
def test_mutations_of_valid_files(seed, draw):
    data = bytearray(seed)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, max(0, min(len(data), 700) - 4)))
        change = draw.draw(st.sampled_from(["byte", "big", "little", "cut", "drop", "repeat"]))
        if change == "byte" and data:
            data[at] = draw.draw(st.integers(0, 255))
        elif change in ("big", "little"):
            data[at : at + 4] = draw.draw(st.sampled_from(EXTREMES)).to_bytes(4, change)
        elif change == "cut":
            del data[at:]
        elif change == "drop":
            del data[at : at + 4]
        else:
            data[at:at] = data[at : at + 16]
    survive(bytes(data))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_that_are_cut_anywhere(path):
    data = path.read_bytes()
    for length in (*range(600), *range(600, len(data), 97)):
        with contextlib.suppress(MalformedMedia):
            probe(memoryview(data)[:length])


@given(
    st.binary(max_size=100), st.sampled_from([b"", b"II*\x00\x08\x00\x00\x00", b"MM\x00*\x00\x00\x00\x08"])
)
def test_any_exif(tail, head):
    assert 1 <= exif.orientation(head + tail) <= 8


def endless(magic, unit, size=4 << 20):
    return magic + unit * (size // len(unit))


@pytest.mark.parametrize(
    "data",
    [
        endless(b"\x89PNG\r\n\x1a\n" + pack(">I4sII9x", 13, b"IHDR", 9, 9), pack(">I4sI", 0, b"tEXt", 0)),
        endless(b"\xff\xd8", b"\xff\xe0\x00\x02"),
        endless(b"\xff\xd8", b"\xff"),
        endless(b"\xff\xd8", b"\xff\xd0"),
        endless(b"GIF89a" + pack("<HH3x", 9, 9), b"\x2c" + bytes(9) + b"\x02\x01\x00\x00"),
        endless(b"GIF89a" + pack("<HH3x", 9, 9) + b"\x21\xff", b"\x01\x00"),
        endless(b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x0a" + bytes(9), b"ANMF\x00\x00\x00\x00"),
        endless(b"RIFF\x00\x00\x00\x00WAVE", b"LIST\x00\x00\x00\x00"),
        endless(b"\x00\x00\x00\x08ftyp", b"\x00\x00\x00\x08free"),
        endless(b"\x00\x00\x00\x08ftyp\x00\x00\x00\x00moov", b"\x00\x00\x00\x08trak"),
        endless(b"\x00\x00\x00\x08ftyp", b"\x00\x00\x00\x00moov"),
        endless(b"\x00\x00\x00\x0cftypavif\x00\x00\x00\x00meta\x00\x00\x00\x00", b"\x00\x00\x00\x08pitm"),
        endless(b"II*\x00\x08\x00\x00\x00", b"\xff\xff" * 6),
        endless(b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff", b"\x1f\x43\xb6\x75\xff"),
        endless(b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x16\x54\xae\x6b\x85\xae\x83\x83\x81\x02", b"\xa3\x80"),
        endless(b"OggS\x00\x02" + bytes(20) + b"\x01\x08OpusHead", b"OggS"),
        endless(b"ID3", b"\x04\x00\x00\x00\x00\x00\x00ID3"),
        endless(b"", b"\xff\xe3\x18\x00" + bytes(68)),
        endless(b"", b"\xff\xf1\x50\x80\x00\xe0\x00"),
        endless(b"RIFF\x00\x00\x00\x00AVI ", b"LIST\x00\x00\x00\x00hdrl"),
    ],
    ids=["png", "jpeg-segments", "jpeg-fill", "jpeg-bare", "gif", "gif-blocks", "webp", "wav", "mp4", "mp4-tracks", "mp4-nested", "heif", "tiff", "matroska-clusters", "matroska-blocks", "ogg", "id3", "mp3", "aac", "avi"],
)  # fmt: skip
def test_megabytes_of_the_smallest_parts(data):
    survive(memoryview(data))
