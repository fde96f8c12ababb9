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

    def covers(self, dx: float, dy: float) -> bool:
        """Whether a point at this offset from the centre, in the same unit as `radius`, is inside the shape."""
        if self.kind == "square":
            return max(abs(dx), abs(dy)) <= self.radius
        return math.hypot(dx, dy) <= self.radius


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
    side = min(width, height)
    rows = [bytearray(bytes(background) * width) for _ in range(height)]
    for shape in shapes:
        _fill(rows, shape, side, width, height)
    return encode_png(width, height, [bytes(row) for row in rows])


def _fill(rows: list[bytearray], shape: Shape, side: int, width: int, height: int) -> None:
    ink = bytes(COLOURS[shape.colour])
    # x and y count from the middle of the free space, so that 0.5 is the centre of a picture of any aspect.
    left = (width - side) / 2 + shape.x * side
    top = (height - side) / 2 + shape.y * side
    for y in range(height):
        for x in range(width):
            if shape.covers((x + 0.5 - left) / side, (y + 0.5 - top) / side):
                rows[y][3 * x : 3 * x + 3] = ink


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
