"""Palette, shapes and glyphs: everything that puts a coloured thing on a picture and remembers where it is.

Glyphs come from the font that Pillow carries inside itself (Aileron, CC0), so that a picture never depends on
what is installed. Lengths are pixels, colours are 8-bit RGB.
"""

import math
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

PATCH = 14
PALETTE = {
    "red": (220, 25, 25),
    "green": (25, 165, 45),
    "blue": (25, 60, 220),
    "yellow": (245, 220, 20),
    "orange": (245, 135, 15),
    "purple": (140, 30, 170),
    "black": (10, 10, 10),
    "white": (250, 250, 250),
}
COLOURS = tuple(PALETTE)
SHAPES = ("circle", "square", "triangle", "star", "cross")
DIGITS = "0123456789"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
KINDS = (*SHAPES, *DIGITS, *LETTERS)
LABEL_SIZES = (len(COLOURS) + 1, len(KINDS) + 1, 2, 5)

Box = tuple[float, float, float, float]
Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Mark:
    """One thing on the picture: its box, colour, kind (a shape or a character) and place in its word (0 for shapes)."""

    box: Box
    colour: str
    kind: str
    place: int = 0

    @property
    def centre(self) -> tuple[float, float]:
        """Middle of the box."""
        return (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2


@dataclass(frozen=True)
class Background:
    """A nearly grey canvas colour and the palette colours that stand out on it."""

    rgb: Rgb
    usable: tuple[str, ...]


def choose_background(rng: Random) -> Background:
    """Draw a canvas: light, middle, grey or dark."""
    low, high, hidden = rng.choices(
        [(235, 255, "white"), (170, 225, "white"), (95, 140, ""), (0, 55, "black")], [0.4, 0.25, 0.15, 0.2]
    )[0]
    level = rng.randint(low, high)
    rgb = tuple(_clip(level + rng.randint(-6, 6)) for _ in range(3))
    return Background(rgb, tuple(c for c in COLOURS if c != hidden))


def jitter(rng: Random, colour: str, spread: int = 14) -> Rgb:
    """A palette colour, each channel moved by up to `spread`."""
    return tuple(_clip(v + rng.randint(-spread, spread)) for v in PALETTE[colour])


def draw_shape(
    draw: ImageDraw.ImageDraw, shape: str, centre: tuple[float, float], radius: float, rgb: Rgb
) -> None:
    """Fill one of SHAPES; every shape spans about `radius` from its centre."""
    x, y = centre
    if shape == "circle":
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=rgb)
    elif shape == "square":
        side = radius * 0.88
        draw.rectangle((x - side, y - side, x + side, y + side), fill=rgb)
    elif shape == "triangle":
        draw.polygon(
            [(x, y - radius), (x - radius, y + radius * 0.85), (x + radius, y + radius * 0.85)], fill=rgb
        )
    elif shape == "star":
        draw.polygon([_star_point(x, y, radius, i) for i in range(10)], fill=rgb)
    else:
        arm = radius * 0.34
        draw.rectangle((x - radius, y - arm, x + radius, y + arm), fill=rgb)
        draw.rectangle((x - arm, y - radius, x + arm, y + radius), fill=rgb)


def shape_mark(shape: str, colour: str, centre: tuple[float, float], radius: float) -> Mark:
    """The mark of a shape, with a box a little inside its outline."""
    x, y = centre
    inner = radius * 0.85
    return Mark((x - inner, y - inner, x + inner, y + inner), colour, shape)


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font at `size` pixels."""
    return ImageFont.load_default(size=size)


def text_size(text: str, size: int, weight: int = 0) -> tuple[float, float]:
    """Width and height of the inked box of `text`, outlined by `weight` pixels."""
    left, top, right, bottom = font(size).getbbox(text, stroke_width=weight)
    return right - left, bottom - top


def draw_text(
    draw: ImageDraw.ImageDraw,
    text: str,
    at: tuple[float, float],
    size: int,
    weight: int,
    rgb: Rgb,
    colour: str,
) -> list[Mark]:
    """Write `text` with the top left of its ink at `at`; one mark for each character, places counted from 1."""
    face = font(size)
    left, top, _, bottom = face.getbbox(text, stroke_width=weight)
    draw.text((at[0] - left, at[1] - top), text, font=face, fill=rgb, stroke_width=weight)
    marks, start = [], at[0]
    for index, character in enumerate(text):
        end = at[0] + face.getlength(text[: index + 1])
        marks.append(Mark((start + 1, at[1], end - 1, at[1] + bottom - top), colour, character, index + 1))
        start = end
    return marks


def patch_labels(marks: list[Mark], height: int, width: int) -> np.ndarray:
    """Per-patch truth, int64 [height/14, width/14, 4]: colour, kind, "holds a centre", place in the word; 0 is none."""
    rows, columns = height // PATCH, width // PATCH
    labels = np.zeros((rows, columns, 4), np.int64)
    for mark in marks:
        x0, y0, x1, y1 = (value / PATCH for value in mark.box)
        x, y = (value / PATCH for value in mark.centre)
        row, column = min(max(int(y), 0), rows - 1), min(max(int(x), 0), columns - 1)
        values = (1 + COLOURS.index(mark.colour), 1 + KINDS.index(mark.kind), 0, mark.place)
        covered = (slice(max(round(y0), 0), round(y1)), slice(max(round(x0), 0), round(x1)))
        labels[covered] = values
        labels[row, column] = values
        labels[row, column, 2] = 1
    return labels


def _clip(value: float) -> int:
    return int(max(0, min(255, value)))


def _star_point(x: float, y: float, radius: float, index: int) -> tuple[float, float]:
    reach = radius * (1.1 if index % 2 == 0 else 0.45)
    return x + reach * math.sin(index * math.pi / 5), y - reach * math.cos(index * math.pi / 5)


def canvas(background: Background, height: int, width: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty picture and its pen."""
    image = Image.new("RGB", (width, height), background.rgb)
    return image, ImageDraw.Draw(image)
