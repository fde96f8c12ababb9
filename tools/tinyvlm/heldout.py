"""Held-out questions: pictures and answers from seeds that training never draws."""

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from PIL import Image

from tinyvlm import courses, scenes
from tinyvlm.questions import Ask, text_ask

SCENES_OF = {
    "colour": ("one", "several", "composed"),
    "shape": ("one", "several", "composed"),
    "count": ("one", "several", "composed"),
    "digit": ("digit",),
    "number": ("number", "composed"),
    "nothing": ("nothing",),
    "composed": ("composed",),
    "describe": ("one", "several", "digit", "number", "word", "letters"),
    "word": ("word",),
    "letters": ("letters",),
    "position": ("one", "several"),
    "list": ("several",),
    "exists": ("one", "several"),
    "compare": (),
    "text": (),
}
# An empty picture is asked about at sizes beyond those of the other scenes.
EMPTY_SIZES = (*courses.SIZES, (56, 112), (140, 196), (56, 168))


@dataclass(frozen=True)
class Item:
    """One held-out question: none, one or two pictures (uint8 arrays), the words, and the true answer."""

    kind: str
    pictures: tuple[np.ndarray, ...]
    question: str
    answer: str

    def data_urls(self) -> list[str]:
        """The pictures as PNG data URLs."""
        return [png_url(picture) for picture in self.pictures]


def png_url(picture: np.ndarray) -> str:
    """A picture as a PNG data URL."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def items(per_kind: int, seed: int, kinds: tuple[str, ...] = tuple(SCENES_OF)) -> Iterator[Item]:
    """`per_kind` questions of each kind; item i of a kind depends on (seed, kind, i) alone."""
    for kind in kinds:
        for index in range(per_kind):
            yield item(kind, index, seed)


def resized(one: Item, factor: float) -> Item:
    """The same question of pictures `factor` times as wide and high, as an engine may get them: no multiples of 28."""
    pictures = [Image.fromarray(picture) for picture in one.pictures]
    sizes = [(round(image.width * factor), round(image.height * factor)) for image in pictures]
    scaled = [
        np.asarray(image.resize(size, Image.Resampling.BICUBIC))
        for image, size in zip(pictures, sizes, strict=True)
    ]
    return replace(one, pictures=tuple(scaled))


def item(kind: str, index: int, seed: int) -> Item:
    """One held-out question."""
    rng = Random(f"tinyvlm heldout {seed} {kind} {index}")
    if kind == "text":
        return _item((), text_ask(rng))
    if kind == "compare":
        first, second, asks = scenes.pair(rng, *courses.choose_size(rng))
        return _item((first.pixels, second.pixels), rng.choice(asks))
    # Counts are asked about evenly; scenes as drawn hold more ones than fives.
    wanted = str(rng.randint(1, 5)) if kind == "count" else None
    while True:
        size = rng.choice(EMPTY_SIZES) if kind == "nothing" else courses.choose_size(rng)
        scene = scenes.scene(rng, *size, rng.choice(SCENES_OF[kind]))
        asks = [ask for ask in scene.asks if ask.kind == kind and wanted in {None, ask.answer}]
        if asks:
            return _item((scene.pixels,), rng.choice(asks))


def _item(pictures: tuple[np.ndarray, ...], ask: Ask) -> Item:
    return Item(ask.kind, pictures, ask.question, ask.answer)
