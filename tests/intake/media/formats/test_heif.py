"""HEIC and AVIF: by real encoders, and boxes by hand for what those do not write."""

from struct import pack

import pytest

from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe

PRIMARY, OTHER = 7, 3


def box(kind, *payloads):
    body = b"".join(payloads)
    return pack(">I4s", 8 + len(body), kind) + body


def full(kind, *payloads, version=0, flags=0):
    return box(kind, pack(">I", version << 24 | flags), *payloads)


def ispe(width, height):
    return full(b"ispe", pack(">II", width, height))


def ipma(*items, wide=False, version=0):
    """Items of (id, numbers of their properties)."""
    number, index = ">I" if version else ">H", ">H" if wide else ">B"
    body = b"".join(
        pack(number, item) + bytes([len(indices)]) + b"".join(pack(index, each) for each in indices)
        for item, indices in items
    )
    return full(b"ipma", pack(">I", len(items)), body, version=version, flags=int(wide))


def file(*properties, maps=None, brand=b"heic", pitm=None, tail=b""):
    maps = maps or [ipma((OTHER, (1,)), (PRIMARY, range(1, len(properties) + 1)))]
    pitm = pitm or full(b"pitm", pack(">H", PRIMARY))
    meta = full(b"meta", full(b"hdlr", bytes(20)), pitm, box(b"iprp", box(b"ipco", *properties), *maps))
    return box(b"ftyp", brand, bytes(4), b"mif1", brand) + meta + tail


def measured(data):
    header = probe(data)
    return header.width, header.height, header.orientation


@pytest.mark.parametrize(
    ("name", "mime", "frames", "orientation"),
    [
        ("still_64x48.avif", "image/avif", 1, 1),
        ("turned6_64x48.avif", "image/avif", 1, 6),
        ("turned5_64x48.avif", "image/avif", 1, 5),
        ("sequence_3f_64x48.avif", "image/avif", 3, 1),
        ("still_64x48.heic", "image/heic", 1, 1),
        (
            "turned6_64x48.heic",
            "image/heic",
            1,
            1,
        ),  # turned by EXIF only, which HEIF tells readers to pass over
    ],
)
@pytest.mark.parametrize("shape", [bytes, memoryview])
def test_real_files(sample, name, mime, frames, orientation, shape):
    header = probe(shape(sample(name)))
    assert (header.mime, header.width, header.height) == (mime, 64, 48)
    assert (header.frames, header.orientation, header.sized) == (frames, orientation, True)


TURN, FLIP = box(b"irot", b"\x03"), box(b"imir", b"\x01")


def test_heic_is_measured_upright_and_avif_as_stored():
    assert measured(file(ispe(4032, 3024), TURN)) == (3024, 4032, 1)
    assert measured(file(ispe(4032, 3024), TURN, brand=b"avif")) == (4032, 3024, 6)
    assert measured(file(ispe(4032, 3024), TURN, FLIP, brand=b"avif")) == (4032, 3024, 5)


def test_a_grid_has_the_size_of_the_whole_not_of_a_tile():
    tiles = [(tile, (1,)) for tile in range(100, 148)]
    maps = [ipma(*tiles, (PRIMARY, (2, 3)), wide=True, version=1)]
    assert measured(file(ispe(512, 512), ispe(4032, 3024), TURN, maps=maps)) == (3024, 4032, 1)


def test_a_wide_item_number_and_a_second_map():
    maps = [ipma((OTHER, (1,))), ipma((PRIMARY, (2,)), version=1)]
    pitm = full(b"pitm", pack(">I", PRIMARY), version=1)
    assert measured(file(ispe(9, 9), ispe(64, 48), maps=maps, pitm=pitm)) == (64, 48, 1)


def moov(handler):
    """A track of three samples of 64x48, without boxes that nobody asks for."""
    tkhd = box(b"tkhd", bytes(76), pack(">II", 64 << 16, 48 << 16))
    stts = full(b"stts", pack(">III", 1, 3, 40))
    media = box(b"hdlr", bytes(8), handler, bytes(13)), box(b"minf", box(b"stbl", stts))
    return box(b"moov", box(b"trak", tkhd, box(b"mdia", *media)))


def test_a_sequence_without_a_still_picture_has_the_size_of_its_track():
    header = probe(box(b"ftyp", b"avis", bytes(4)) + moov(b"pict"))
    assert (header.mime, header.width, header.height, header.frames) == ("image/avif", 64, 48, 3)


def test_a_track_that_is_no_picture_counts_no_frames():
    header = probe(file(ispe(9, 7), tail=moov(b"auxv")))
    assert (header.width, header.frames) == (9, 1)


@pytest.mark.parametrize(
    ("clap", "size"),
    [((64, 1, 48, 1), (64, 48)), ((128, 2, 97, 2), (64, 48)), ((64, 0, 48, 1), (64, 64)), ((65, 1, 48, 1), (64, 64)), ((0, 1, 48, 1), (64, 64))],
)  # fmt: skip
def test_the_clean_aperture_crops_when_it_lies_inside(clap, size):
    assert measured(file(ispe(64, 64), box(b"clap", pack(">IIII", *clap), bytes(16))))[:2] == size


@pytest.mark.parametrize(
    "data",
    [
        file(),
        file(ispe(64, 48), maps=[ipma((OTHER, (1,)))]),
        file(ispe(64, 48), maps=[ipma((PRIMARY, (0, 2, 99)))]),
        file(TURN, FLIP),
        file(ispe(64, 48))[:60],
        file(box(b"ispe", bytes(4)), box(b"irot"), box(b"imir")),
        box(b"ftyp", b"avif", bytes(4)) + full(b"meta"),
        box(b"ftyp", b"heic", bytes(4)) + full(b"meta", full(b"pitm", b"\0\7"), box(b"iprp")),
    ],
)
def test_a_picture_that_tells_no_size_is_recognised(data):
    header = probe(data)
    assert (header.mime[:6], header.pixels, header.frames, header.sized) == ("image/", 0, 1, False)


@pytest.mark.parametrize(
    "data",
    [
        box(b"ftyp", b"avif", bytes(4)),
        box(b"ftyp", b"mif1", bytes(4), b"heic") + box(b"mdat", bytes(99)),
        file(ispe(0, 48)),
        file(ispe(64, 48), maps=[full(b"ipma")]),
    ],
)
def test_a_heif_that_is_cut_or_impossible_is_malformed(data):
    with pytest.raises(MalformedMedia, match="image/"):
        probe(data)
