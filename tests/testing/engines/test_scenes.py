import io
import struct
import wave
import zlib

import pytest

from forebay.testing.engines import scenes


def pixels(png):
    """Decode what encode_png makes: one IDAT, 8-bit RGB, filter 0."""
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT")
    (length,) = struct.unpack(">I", png[start - 4 : start])
    raw = zlib.decompress(png[start + 4 : start + 4 + length])
    rows = [raw[y * (3 * width + 1) + 1 : (y + 1) * (3 * width + 1)] for y in range(height)]
    return width, height, [[tuple(row[3 * x : 3 * x + 3]) for x in range(width)] for row in rows]


def test_every_chunk_of_a_png_carries_its_checksum():
    png = scenes.picture()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at = 8
    kinds = []
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + data),)
        kinds.append(kind)
        at += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]


def test_a_square_covers_what_it_says_and_nothing_else():
    width, height, rows = pixels(scenes.picture([scenes.Shape("square", "blue", radius=0.25)], 80, 40))
    assert (width, height) == (80, 40)
    blue = [(x, y) for y in range(40) for x in range(80) if rows[y][x] == scenes.COLOURS["blue"]]
    assert blue == [(x, y) for y in range(10, 30) for x in range(30, 50)]


def test_a_circle_is_round_and_later_shapes_lie_above():
    shapes = [scenes.Shape("square", "red", radius=0.5), scenes.Shape("circle", "green", radius=0.4)]
    _, _, rows = pixels(scenes.picture(shapes, 100, 100))
    flat = [pixel for row in rows for pixel in row]
    assert flat.count(scenes.COLOURS["green"]) == pytest.approx(3.14159 * 40**2, rel=0.01)
    assert rows[2][2] == scenes.COLOURS["red"]
    assert scenes.LIGHT not in flat


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2x1 RGB picture needs 1 rows of 6 bytes"):
        scenes.encode_png(2, 1, [b"\0\0\0"])


def test_a_tone_has_its_duration_and_rate():
    with wave.open(io.BytesIO(scenes.tone(0.25, rate=8000))) as sound:
        assert (sound.getnframes(), sound.getframerate(), sound.getnchannels()) == (2000, 8000, 1)
        assert any(sound.readframes(100))


def test_demo_scenes_have_different_names_and_sizes():
    made = scenes.demo_scenes()
    assert len({scene.name for scene in made}) == len(made)
    assert len({(scene.width, scene.height) for scene in made}) >= 4
    for scene in made:
        assert pixels(scene.png)[:2] == (scene.width, scene.height)
