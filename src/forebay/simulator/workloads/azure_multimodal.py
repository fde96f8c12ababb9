"""Azure's multimodal service of 2024, from the distributions that were published as figures, read off by eye and ruler: approximate.

Only each field's own distribution is known. How the tokens of a prompt are split between text and pictures is declared here.
"""

import random
from collections.abc import Iterator
from typing import Literal

import msgspec

from forebay.domain.bounds import AtLeastOne
from forebay.simulator.workloads.ask import Ask
from forebay.simulator.workloads.pictures import Pictures, Reuse, Share
from forebay.simulator.workloads.samples import sample
from forebay.simulator.workloads.table import Table, shares


class Distributions(msgspec.Struct, frozen=True):
    """Of asks with pictures, and of those without."""

    context_image: Table
    context_text: Table
    output_image: Table
    output_text: Table
    image_count: Table


class AzureMultimodal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Half of the asks have pictures; of those prompts, `image_tokens_share` are tokens of pictures.

    A picture has from `least_image_tokens` to `most_image_tokens`: there are as many pictures as drawn, as long as they keep to
    that. Longer prompts and answers are cut: the service's tail goes beyond what the modelled engines can hold.
    """

    image_share: Share = 0.5
    image_tokens_share: Share = 0.7
    least_image_tokens: AtLeastOne = 64
    most_image_tokens: AtLeastOne = 1_280
    most_context_tokens: AtLeastOne = 16_000
    most_output_tokens: AtLeastOne = 1_500
    draw: Literal["comonotone", "independent"] = "independent"
    reuse: Reuse = Reuse()

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Asks without end."""
        tables = sample("azure-multimodal.json", Distributions)
        pictures = Pictures(self.reuse, rng)
        while True:
            drawn = [rng.random() for _ in range(3)]
            context, output, count = shares(3, drawn, comonotone=self.draw == "comonotone")
            if rng.random() < self.image_share:
                tokens = self._context(tables.context_image, context)
                yield self._with_pictures(tokens, tables.image_count.at(count), pictures)._replace(
                    output_tokens=self._output(tables.output_image, output)
                )
            else:
                yield Ask(
                    self._context(tables.context_text, context), self._output(tables.output_text, output)
                )

    def _with_pictures(self, context_tokens: int, drawn_count: int, pictures: Pictures) -> Ask:
        seen = round(self.image_tokens_share * context_tokens)
        needed = -(-seen // self.most_image_tokens)
        count = max(1, needed, min(drawn_count, seen // self.least_image_tokens))
        each = max(self.least_image_tokens, seen // count) if seen else 0
        album = pictures.album(count, each)
        return Ask(max(1, context_tokens - seen), 1, album)

    def _context(self, table: Table, share: float) -> int:
        return min(table.at(share), self.most_context_tokens)

    def _output(self, table: Table, share: float) -> int:
        return min(max(1, table.at(share)), self.most_output_tokens)
