"""Questions about pictures with short answers. Synthetic: every number is declared here, and none was observed."""

import random
from collections.abc import Iterator
from typing import Annotated

import msgspec

from forebay.domain.bounds import AtLeastOne, Count
from forebay.simulator.workloads.ask import Ask
from forebay.simulator.workloads.pictures import Pictures, Reuse

Weight = Annotated[float, msgspec.Meta(ge=0)]


class ShortAnswers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many pictures as `image_counts` lists, by `weights`: the default has a heavy tail, as 10 % ask about ten at once.

    576 tokens are a picture of 768 x 768 pixels. Questions have from `least_text_tokens` to `most_text_tokens`, each length as
    likely, and answers are geometric.
    """

    image_counts: tuple[Count, ...] = (0, 1, 10)
    weights: tuple[Weight, ...] = (0.5, 0.4, 0.1)
    image_tokens: AtLeastOne = 576
    least_text_tokens: AtLeastOne = 20
    most_text_tokens: AtLeastOne = 119
    mean_output_tokens: AtLeastOne = 15
    reuse: Reuse = Reuse()

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.image_counts) or not sum(self.weights):
            raise ValueError("`weights` must have one for each of `image_counts`, not all of them 0")

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Questions without end."""
        pictures = Pictures(self.reuse, rng)
        while True:
            (count,) = rng.choices(self.image_counts, self.weights)
            yield Ask(
                text_tokens=rng.randint(self.least_text_tokens, self.most_text_tokens),
                output_tokens=1 + int(rng.expovariate(1 / max(1e-9, self.mean_output_tokens - 0.5))),
                media=pictures.album(count, self.image_tokens),
            )
