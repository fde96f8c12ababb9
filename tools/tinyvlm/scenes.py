"""Synthetic pictures with true answers: `scene(rng, height, width)` draws one and asks about it.

Sizes are pixels, multiples of 28 (one image token covers 28 x 28). The same rng state gives the same picture.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import numpy as np

from tinyvlm import drawing
from tinyvlm.courses import EVEN, Course, draw_kind
from tinyvlm.drawing import COLOURS, SHAPES, Mark
from tinyvlm.questions import NOTHING, NUMBER_WORDS, WORDS, Ask, any_picture_question, asked, plural, yes_no
from tinyvlm.sheet import Sheet, add_shape, add_text, film, grain, new_sheet


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


def scene(rng: Random, height: int, width: int, kind: str = "", course: Course = EVEN) -> Scene:
    """Draw one picture of `kind` (a key of DRAWERS, or "nothing"; drawn by the course where not given)."""
    kind = kind or draw_kind(rng, course.kinds)
    if kind == "nothing":
        return _nothing(rng, height, width)
    sheet = new_sheet(rng, height, width)
    sheet.counts = course.counts
    asks = DRAWERS[kind](sheet)
    return Scene(film(rng, sheet.image), asks, sheet.marks)


def barred_scene(rng: Random, height: int, width: int, course: Course) -> Scene:
    """A scene between black bars of up to 16 pixels in all, on one axis; its per-patch truth is not to be used."""
    bar, tall = rng.randint(1, 16), rng.random() < 0.5
    before = rng.choice((bar // 2, bar // 2, bar // 2, 0, bar))
    inner = scene(rng, height - bar * tall, width - bar * (not tall), course=course)
    along, across = (before, bar - before), (0, 0)
    margins = (along, across, (0, 0)) if tall else (across, along, (0, 0))
    return Scene(np.pad(inner.pixels, margins), inner.asks)


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
        pixels = grain(pixels, noise, rng.uniform(8, 70))
    return Scene(pixels, [Ask("nothing", any_picture_question(rng), NOTHING) for _ in range(3)])


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
    return Scene(film(rng, sheet.image), [], sheet.marks)


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
        drawn.append(Scene(film(rng, sheet.image), [], sheet.marks))
    asks = [
        asked(rng, "compare", yes_no(same_colour), "same_colour"),
        asked(rng, "compare", yes_no(same_shape), "same_shape"),
    ]
    return drawn[0], drawn[1], asks
