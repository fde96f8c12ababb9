"""Synthetic pictures with true answers: `scene(rng, height, width)` draws one and asks about it.

Sizes are pixels, multiples of 28 (one image token covers 28 x 28). The same rng state gives the same picture.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import numpy as np
from PIL import Image, ImageDraw

from tinyvlm import drawing
from tinyvlm.drawing import COLOURS, SHAPES, Background, Mark
from tinyvlm.questions import NOTHING, NUMBER_WORDS, WORDS, Ask, any_picture_question, asked, plural, yes_no

SIZES = {
    (112, 112): 0.36,
    (84, 112): 0.08,
    (112, 84): 0.08,
    (84, 84): 0.02,
    (112, 140): 0.08,
    (140, 112): 0.08,
    (140, 140): 0.07,
    (112, 168): 0.04,
    (168, 112): 0.04,
    (140, 168): 0.03,
    (168, 140): 0.03,
    (168, 168): 0.03,
    (196, 196): 0.02,
    (168, 252): 0.01,
    (252, 196): 0.01,
    (224, 224): 0.02,
}
SCENE_KINDS = {
    "one": 0.15,
    "several": 0.25,
    "digit": 0.09,
    "number": 0.11,
    "word": 0.06,
    "letters": 0.06,
    "composed": 0.2,
    "nothing": 0.08,
}
# The crowded pictures of the first stage are full of random letters as they are.
FIRST_STAGE_KINDS = {
    "one": 0.16,
    "several": 0.25,
    "digit": 0.1,
    "number": 0.12,
    "word": 0.09,
    "composed": 0.2,
    "nothing": 0.08,
}


@dataclass(frozen=True)
class Course:
    """How a part of training draws scenes: shares of the kinds, and of the counts 1 to 5 (even where empty)."""

    kinds: dict[str, float]
    counts: tuple[float, ...] = ()


EVEN = Course(SCENE_KINDS)
# Four and five are told apart last, and a composed answer needs every part right.
HARD = Course(
    {
        "one": 0.08,
        "several": 0.28,
        "digit": 0.06,
        "number": 0.11,
        "word": 0.05,
        "letters": 0.08,
        "composed": 0.28,
        "nothing": 0.06,
    },
    (0.08, 0.12, 0.2, 0.3, 0.3),
)


@dataclass
class Scene:
    """A picture (uint8 [height, width, 3]), what may be asked of it, and what stands where."""

    pixels: np.ndarray
    asks: list[Ask] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def labels(self) -> np.ndarray:
        """Per-patch truth, as `drawing.patch_labels` gives it."""
        return drawing.patch_labels(self.marks, *self.pixels.shape[:2])


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


def choose_size(rng: Random) -> tuple[int, int]:
    """Height and width, drawn as in training."""
    return rng.choices(list(SIZES), list(SIZES.values()))[0]


def draw_kind(rng: Random, shares: dict[str, float]) -> str:
    """A kind of scene, drawn by its share."""
    return rng.choices(list(shares), list(shares.values()))[0]


def scene(rng: Random, height: int, width: int, kind: str = "", course: Course = EVEN) -> Scene:
    """Draw one picture of `kind` (a key of SCENE_KINDS; drawn by the course where not given)."""
    kind = kind or draw_kind(rng, course.kinds)
    if kind == "nothing":
        return _nothing(rng, height, width)
    sheet = new_sheet(rng, height, width)
    sheet.counts = course.counts
    asks = DRAWERS[kind](sheet)
    return Scene(_film(rng, sheet.image), asks, sheet.marks)


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


def position_name(mark: Mark, width: int, height: int) -> str:
    """Where a mark stands ("top left", "center", ...), or "" where that would be a matter of taste."""
    x, y = mark.centre[0] / width, mark.centre[1] / height
    if 0.38 <= x <= 0.62 and 0.38 <= y <= 0.62:
        return "center"
    if 0.42 < x < 0.58 or 0.42 < y < 0.58:
        return ""
    return ("top" if y < 0.5 else "bottom") + " " + ("left" if x < 0.5 else "right")


def composed_answer(count: int, colour: str, shape: str, number: str = "") -> str:
    """What "Describe the picture." answers: "1 red circle", "3 red circles 47"."""
    return f"{count} {colour} {plural(shape) if count > 1 else shape} {number}".strip()


def _one(sheet: Sheet) -> list[Ask]:
    rng = sheet.rng
    mark = add_shape(sheet, 11 * sheet.scale, 32 * sheet.scale)
    return [
        asked(rng, "colour", mark.colour, rng.choice(("colour", "colour_one")), shape=mark.kind),
        asked(rng, "shape", mark.kind, rng.choice(("shape", "shape_one")), colour=mark.colour),
        asked(rng, "count", "1"),
        asked(rng, "describe", composed_answer(1, mark.colour, mark.kind)),
        *_positions(sheet, [mark]),
        _exists(sheet),
    ]


def _several(sheet: Sheet) -> list[Ask]:
    rng = sheet.rng
    for _ in range(sheet.draw_count(2)):
        add_shape(sheet, 9 * sheet.scale, 16 * sheet.scale)
    marks = sheet.marks
    shapes, colours = [m.kind for m in marks], [m.colour for m in marks]
    asks = [
        asked(rng, "count", NUMBER_WORDS[len(marks)]),
        asked(rng, "describe", f"{len(marks)} shapes"),
        _exists(sheet),
    ]
    asks += [asked(rng, "colour", m.colour, shape=m.kind) for m in marks if shapes.count(m.kind) == 1]
    asks += [asked(rng, "shape", m.kind, colour=m.colour) for m in marks if colours.count(m.colour) == 1]
    asks += _positions(sheet, marks)
    ordered = sorted(marks, key=lambda m: m.centre[0])
    if all(b.centre[0] - a.centre[0] >= 8 for a, b in pairwise(ordered)):
        answer = ", ".join(f"{m.colour} {m.kind}" for m in ordered)
        asks += [asked(rng, "list", answer), asked(rng, "list", answer)]
    return asks


def _glyphs(
    kind: str, text: Callable[[Random], str], low: int, high: int, form: str = ""
) -> Callable[[Sheet], list[Ask]]:
    def draw(sheet: Sheet) -> list[Ask]:
        rng, written = sheet.rng, text(sheet.rng)
        colour = add_text(sheet, written, int(low * sheet.scale), int(high * sheet.scale), smallest=14)
        wording = rng.choice((kind, kind, "number")) if kind == "digit" else form or kind
        asks = [
            asked(rng, kind, written, wording),
            asked(rng, kind, written, wording),
            asked(rng, "describe", written),
        ]
        return [*asks, asked(rng, "colour", colour, "colour_text")]

    return draw


def _composed(sheet: Sheet) -> list[Ask]:
    rng = sheet.rng
    number = two_digits(rng)
    add_text(sheet, number, int(32 * sheet.scale), int(42 * sheet.scale))
    shape, colour = rng.choice(SHAPES), rng.choice(sheet.background.usable)
    wanted = sheet.draw_count(1)
    small = 9 * sheet.scale * (0.85 if min(sheet.image.size) < 112 else 1.0)
    radius = rng.uniform(small, small * 1.5)
    shapes = [add_shape(sheet, radius * 0.93, radius, shape, colour) for _ in range(wanted)]
    count = sum(mark is not None for mark in shapes)
    if count == 0:
        return [asked(rng, "number", number), asked(rng, "describe", number)]
    composed = composed_answer(count, colour, shape, number)
    return [
        asked(rng, "composed", composed, "describe"),
        asked(rng, "composed", composed, "describe"),
        asked(rng, "count", str(count), rng.choice(("count", "count_some")), shape=shape, colour=colour),
        asked(rng, "number", number),
        asked(rng, "shape", shape, "shape_one"),
        asked(rng, "colour", colour, "colour_many" if count > 1 else "colour", shape=shape),
    ]


def two_digits(rng: Random) -> str:
    """A number of two digits, the first not 0."""
    return str(rng.randint(10, 99))


def random_letters(rng: Random) -> str:
    """Two to four capital letters that need not be a word."""
    return "".join(rng.choice(drawing.LETTERS) for _ in range(rng.randint(2, 4)))


DRAWERS: dict[str, Callable[[Sheet], list[Ask]]] = {
    "one": _one,
    "several": _several,
    "digit": _glyphs("digit", lambda rng: rng.choice(drawing.DIGITS), 40, 80),
    "number": _glyphs("number", two_digits, 32, 64),
    "word": _glyphs("word", lambda rng: rng.choice(WORDS), 28, 40),
    "letters": _glyphs("letters", random_letters, 28, 40, "word"),
    "composed": _composed,
}


def _positions(sheet: Sheet, marks: list[Mark]) -> list[Ask]:
    shapes = [m.kind for m in marks]
    named = [(m, position_name(m, *sheet.image.size)) for m in marks if shapes.count(m.kind) == 1]
    return [asked(sheet.rng, "position", p, shape=m.kind, colour=m.colour) for m, p in named if p]


def _exists(sheet: Sheet) -> Ask:
    rng, marks = sheet.rng, sheet.marks
    truth = rng.random() < 0.5
    seen = rng.choice(marks)
    shape, colour = seen.kind, seen.colour
    absent = [s for s in SHAPES if all(m.kind != s for m in marks)]
    if not truth:
        shape, colour = rng.choice(absent or SHAPES), rng.choice(COLOURS)
    template = rng.choice(("Is there a {shape}?", "Is there a {colour} {shape}?", "Is anything {colour}?"))
    found = any(
        ("{shape}" not in template or m.kind == shape) and ("{colour}" not in template or m.colour == colour)
        for m in marks
    )
    return Ask("exists", template.format(shape=shape, colour=colour), yes_no(found))


def _nothing(rng: Random, height: int, width: int) -> Scene:
    rgb = drawing.choose_background(rng).rgb
    if rng.random() < 0.6:
        vivid = tuple(rng.randint(0, 255) for _ in range(3))
        rgb = vivid if rng.random() < 0.6 else drawing.jitter(rng, rng.choice(COLOURS))
    pixels = np.full((height, width, 3), rgb, np.uint8)
    noise = np.random.default_rng(rng.getrandbits(32))
    look = rng.choice(("blank", "blank", "uniform", "grey", "gaussian"))
    if look == "uniform":
        pixels = noise.integers(0, 256, pixels.shape, dtype=np.uint8)
    elif look == "grey":
        pixels = np.repeat(noise.integers(0, 256, (height, width, 1), dtype=np.uint8), 3, 2)
    elif look == "gaussian":
        pixels = _grain(pixels, noise, rng.uniform(8, 70))
    return Scene(pixels, [Ask("nothing", any_picture_question(rng), NOTHING) for _ in range(3)])


def _film(rng: Random, image: Image.Image) -> np.ndarray:
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
        return _grain(pixels, np.random.default_rng(rng.getrandbits(32)), rng.uniform(1, 9))
    return pixels


def _grain(pixels: np.ndarray, noise: np.random.Generator, strength: float) -> np.ndarray:
    return np.clip(pixels + noise.normal(0, strength, pixels.shape), 0, 255).astype(np.uint8)


def _overlap(a: drawing.Box, b: drawing.Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def crowded(rng: Random, height: int, width: int) -> Scene:
    """A picture packed with shapes and characters and no questions: food for the vision tower's first stage."""
    sheet = new_sheet(rng, height, width)
    for _ in range(12):
        if rng.random() < 0.4:
            large = rng.random() < 0.2
            add_shape(sheet, 16 if large else 9, 32 if large else 16)
        else:
            alphabet = drawing.DIGITS if rng.random() < 0.65 else drawing.LETTERS
            length = rng.choice((1, 2, 2, 3))
            add_text(
                sheet, "".join(rng.choice(alphabet) for _ in range(length)), 28, 72 if length == 1 else 46
            )
    return Scene(_film(rng, sheet.image), [], sheet.marks)


def pair(rng: Random, height: int, width: int) -> tuple[Scene, Scene, list[Ask]]:
    """Two pictures of one thing each, and whether they agree."""
    if rng.random() < 0.35:
        first, second = (scene(rng, height, width, "number") for _ in range(2))
        if rng.random() < 0.5:
            return first, first, [asked(rng, "compare", "yes", "same_number")]
        same = [m.kind for m in first.marks] == [m.kind for m in second.marks]
        return first, second, [asked(rng, "compare", yes_no(same), "same_number")]
    colours, shapes = rng.sample(COLOURS[:6], 2), rng.sample(SHAPES, 2)
    same_colour, same_shape = rng.random() < 0.5, rng.random() < 0.5
    drawn = []
    for index in range(2):
        sheet = new_sheet(rng, height, width)
        shape = shapes[0 if same_shape else index]
        add_shape(sheet, 11 * sheet.scale, 30 * sheet.scale, shape, colours[0 if same_colour else index])
        drawn.append(Scene(_film(rng, sheet.image), [], sheet.marks))
    asks = [
        asked(rng, "compare", yes_no(same_colour), "same_colour"),
        asked(rng, "compare", yes_no(same_shape), "same_shape"),
    ]
    return drawn[0], drawn[1], asks
