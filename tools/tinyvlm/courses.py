"""How training draws: picture sizes, shares of the kinds of scene, and what grows harder later."""

from dataclasses import dataclass, field
from random import Random

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
    """How a part of training draws scenes: shares of the kinds, of the counts 1 to 5 (even where empty), pictures with bars, and sizes."""

    kinds: dict[str, float]
    counts: tuple[float, ...] = ()
    barred: float = 0.0
    sizes: dict[tuple[int, int], float] = field(default_factory=lambda: SIZES)


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
# llama.cpp fits a picture whose sides are no multiples of 28 between black bars, where others stretch it.
# On its large pictures a large flat shape looks much like an empty one, so that both are common here.
BARRED = Course(
    {
        "one": 0.18,
        "several": 0.23,
        "digit": 0.07,
        "number": 0.09,
        "word": 0.05,
        "letters": 0.07,
        "composed": 0.24,
        "nothing": 0.07,
    },
    HARD.counts,
    barred=0.4,
    sizes={size: share * (4 if size[0] * size[1] > 168 * 168 else 1) for size, share in SIZES.items()},
)


def choose_size(rng: Random, course: Course = EVEN) -> tuple[int, int]:
    """Height and width, drawn as in training."""
    return rng.choices(list(course.sizes), list(course.sizes.values()))[0]


def draw_kind(rng: Random, shares: dict[str, float]) -> str:
    """A kind of scene, drawn by its share."""
    return rng.choices(list(shares), list(shares.values()))[0]
