"""Small pictures and sounds with known true answers, made with the standard library alone.

The colours, sizes and questions are those that the shipped `tinyvlm` weights were trained on, so that a demo
or a test can check that an answer is true and not merely that there is one.
"""

import io
import math
import struct
import wave
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Rgb = tuple[int, int, int]

COLOURS: dict[str, Rgb] = {
    "red": (220, 25, 25),
    "green": (25, 165, 45),
    "blue": (25, 60, 220),
    "yellow": (245, 220, 20),
    "orange": (245, 135, 15),
    "purple": (140, 30, 170),
    "black": (10, 10, 10),
}
LIGHT: Rgb = (248, 248, 246)


@dataclass(frozen=True, slots=True)
class Shape:
    """One filled circle or square; the centre and the radius are fractions of the picture's shorter side."""

    kind: Literal["circle", "square"]
    colour: str
    x: float = 0.5
    y: float = 0.5
    radius: float = 0.25

    def half_width(self, dy: float) -> float:
        """Half the shape's width at this height above or below its centre, in the unit of `radius`; 0 outside."""
        if abs(dy) > self.radius:
            return 0.0
        return self.radius if self.kind == "square" else math.sqrt(self.radius**2 - dy**2)


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture, a question about it and the true answer, in the words that the model was taught."""

    name: str
    png: bytes
    width: int
    height: int
    question: str
    answer: str


def encode_png(width: int, height: int, rows: Sequence[bytes]) -> bytes:
    """Encode rows of 8-bit RGB pixels, each `3 * width` bytes, as a PNG file.

    Raises ValueError when the rows do not fit the size.
    """
    if len(rows) != height or any(len(row) != 3 * width for row in rows):
        raise ValueError(f"a {width}x{height} RGB picture needs {height} rows of {3 * width} bytes")
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(
    shapes: Sequence[Shape] = (), width: int = 112, height: int = 112, background: Rgb = LIGHT
) -> bytes:
    """Draw shapes over a plain background, later ones above earlier ones, and return a PNG file."""
    rows = [bytearray(bytes(background) * width) for _ in range(height)]
    for shape in shapes:
        _fill(rows, shape, width, height)
    return encode_png(width, height, [bytes(row) for row in rows])


def _fill(rows: list[bytearray], shape: Shape, width: int, height: int) -> None:
    ink = bytes(COLOURS[shape.colour])
    side = min(width, height)
    # x and y count from the middle of the free space, so that 0.5 is the centre of a picture of any aspect.
    left = (width - side) / 2 + shape.x * side
    top = (height - side) / 2 + shape.y * side
    for y, row in enumerate(rows):
        half = shape.half_width((y + 0.5 - top) / side) * side
        first, last = max(0, round(left - half)), min(width, round(left + half))
        if last > first:
            row[3 * first : 3 * last] = ink * (last - first)


def scene(name: str, shapes: Sequence[Shape], question: str, answer: str, size: tuple[int, int]) -> Scene:
    """Draw the shapes at `size` (width, height) and keep the picture with its question and true answer."""
    width, height = size
    return Scene(name, picture(shapes, width, height), width, height, question, answer)


def tone(seconds: float = 1.0, hertz: float = 440.0, rate: int = 16_000) -> bytes:
    """Make a mono 16-bit WAV file of a sine tone; `rate` is in samples a second."""
    samples = (round(12_000 * math.sin(2 * math.pi * hertz * n / rate)) for n in range(round(seconds * rate)))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return file.getvalue()


def demo_scenes() -> list[Scene]:
    """The pictures of the demo: several sizes and kinds of question, each of which `tinyvlm` answers right.

    Left out: numbers, words and more shapes, which `tinyvlm` reads well but this small drawing kit cannot draw.
    """
    small, wide, square, photo, large = (112, 112), (140, 112), (224, 224), (300, 200), (640, 480)
    red_circle, blue_square = Shape("circle", "red"), Shape("square", "blue")
    three = [
        Shape("circle", "red", 0.22, 0.25, 0.11),
        Shape("square", "blue", 0.75, 0.30, 0.11),
        Shape("circle", "green", 0.30, 0.75, 0.11),
    ]
    pair = [Shape("circle", "orange", 0.28, 0.30, 0.16), Shape("square", "purple", 0.72, 0.68, 0.16)]
    return [
        scene("red circle", [red_circle], "What color is the circle?", "red", small),
        scene("blue square", [blue_square], "What color is the square?", "blue", square),
        scene("three shapes", three, "How many shapes are there?", "3", small),
        scene("yellow circle", [Shape("circle", "yellow")], "What color is it?", "yellow", photo),
        scene(
            "green square",
            [Shape("square", "green", radius=0.2)],
            "What is in the picture?",
            "1 green square",
            large,
        ),
        scene("purple circle", [Shape("circle", "purple")], "What shape is it?", "circle", square),
        scene("two shapes", pair, "How many shapes are there?", "2", wide),
        scene("orange beside purple", pair, "What color is the circle?", "orange", wide),
        scene("blank", [], "What do you see?", "nothing", small),
    ]
