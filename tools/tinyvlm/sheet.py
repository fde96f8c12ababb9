"""A picture being drawn: finding room, putting things in it, and how it reaches the eye."""

import io
from dataclasses import dataclass, field
from random import Random

import numpy as np
from PIL import Image, ImageDraw

from tinyvlm import drawing
from tinyvlm.drawing import SHAPES, Background, Mark


@dataclass
class Sheet:
    """A picture being drawn."""

    rng: Random
    background: Background
    image: Image.Image
    pen: ImageDraw.ImageDraw
    marks: list[Mark] = field(default_factory=list)
    taken: list[drawing.Box] = field(default_factory=list)
    counts: tuple[float, ...] = ()

    def draw_count(self, least: int) -> int:
        """How many shapes to draw, `least` to 5."""
        if not self.counts:
            return self.rng.randint(least, 5)
        return self.rng.choices(range(least, 6), self.counts[least - 1 :])[0]

    @property
    def scale(self) -> float:
        """How much larger than on a picture of 112 pixels a thing may be drawn."""
        return max(1.0, min(self.image.size) / 112)

    def claim(
        self, width: float, height: float, gap: float = 2.0, tries: int = 40
    ) -> tuple[float, float] | None:
        """A free place for a box (its top left), or None where the picture is too full."""
        room_x, room_y = self.image.width - width - 2 * gap, self.image.height - height - 2 * gap
        if room_x < 0 or room_y < 0:
            return None
        for _ in range(tries):
            x, y = gap + self.rng.random() * room_x, gap + self.rng.random() * room_y
            box = (x - gap, y - gap, x + width + gap, y + height + gap)
            if not any(_overlap(box, other) for other in self.taken):
                self.taken.append(box)
                return x, y
        return None


def new_sheet(rng: Random, height: int, width: int) -> Sheet:
    """An empty canvas of a random background."""
    background = drawing.choose_background(rng)
    return Sheet(rng, background, *drawing.canvas(background, height, width))


def add_shape(sheet: Sheet, low: float, high: float, shape: str = "", colour: str = "") -> Mark | None:
    """Draw one shape of radius low..high where there is room; None where there is not."""
    rng = sheet.rng
    shape, colour = shape or rng.choice(SHAPES), colour or rng.choice(sheet.background.usable)
    radius = rng.uniform(low, high)
    corner = sheet.claim(2 * radius, 2 * radius)
    if corner is None:
        return None
    centre = (corner[0] + radius, corner[1] + radius)
    drawing.draw_shape(sheet.pen, shape, centre, radius, drawing.jitter(rng, colour))
    mark = drawing.shape_mark(shape, colour, centre, radius)
    sheet.marks.append(mark)
    return mark


def add_text(sheet: Sheet, text: str, low: int, high: int, smallest: int = 22) -> str:
    """Write text of size low..high where there is room (down to `smallest` where there is not); its colour, or "" where none fits."""
    rng = sheet.rng
    size = rng.randint(low, high)
    weight = rng.choice((0, 1, 2)) if size >= 40 else rng.choice((0, 1))
    colour = rng.choice(sheet.background.usable)
    while size >= smallest:
        corner = sheet.claim(*drawing.text_size(text, size, weight))
        if corner is not None:
            rgb = drawing.jitter(rng, colour)
            sheet.marks += drawing.draw_text(sheet.pen, text, corner, size, weight, rgb, colour)
            return colour
        size = int(size * 0.9)
    return ""


def film(rng: Random, image: Image.Image) -> np.ndarray:
    """The picture as it may arrive: clean, grainy, resized or through JPEG."""
    chance = rng.random()
    if chance < 0.08:
        size, factor = image.size, rng.uniform(0.85, 1.6)
        image = image.resize((int(size[0] * factor), int(size[1] * factor)), Image.Resampling.BICUBIC)
        image = image.resize(size, Image.Resampling.BICUBIC)
    elif chance < 0.14:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=rng.randint(60, 95))
        image = Image.open(file)
    pixels = np.asarray(image)
    if 0.14 <= chance < 0.3:
        return grain(pixels, np.random.default_rng(rng.getrandbits(32)), rng.uniform(1, 9))
    return pixels


def grain(pixels: np.ndarray, noise: np.random.Generator, strength: float) -> np.ndarray:
    """The picture with Gaussian noise of `strength` grey levels."""
    return np.clip(pixels + noise.normal(0, strength, pixels.shape), 0, 255).astype(np.uint8)


def _overlap(a: drawing.Box, b: drawing.Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
