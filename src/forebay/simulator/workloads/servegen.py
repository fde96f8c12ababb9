"""Multimodal clients of ServeGen (Alibaba): 35 clients of a production service, each with its own rates and sizes.

Sampled: one window of ten minutes of every hour for the rates, four windows a day for the sizes. Patches are 4 for each token of a
picture, as in Qwen3-VL.
"""

import heapq
import itertools
import math
import random
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from forebay.domain.bounds import AtLeastOne
from forebay.simulator.workloads.ask import Ask
from forebay.simulator.workloads.pictures import Pictures, Reuse
from forebay.simulator.workloads.samples import sample
from forebay.simulator.workloads.table import Table, shares

HOURS = 24


class Rate(msgspec.Struct, frozen=True, array_like=True):
    """How a client's asks come in one window: how many a second, and the family and shape of the gaps between them."""

    per_second: float
    family: Literal["Gamma", "Weibull"]
    shape: float

    def gap(self, rng: random.Random) -> float:
        """Seconds to the next ask."""
        if self.family == "Gamma":
            return rng.gammavariate(self.shape, 1 / (self.shape * self.per_second))
        scale = 1 / (self.per_second * math.gamma(1 + 1 / self.shape))
        return rng.weibullvariate(scale, self.shape)


class Sizes(msgspec.Struct, frozen=True):
    """What a client asks for in one window."""

    text: Table
    image: Table
    count: Table
    output: Table


class Client(msgspec.Struct, frozen=True):
    """One of the service's clients. A rate is None in hours that it does not ask in."""

    rates: tuple[Rate | None, ...]
    sizes: tuple[Sizes | None, ...]


class ServeGen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Clients as they were at `hour`.

    The generator that the data comes with draws the fields of an ask `comonotone`, all by one number: long texts have many
    pictures and long answers. Only their own distributions were published; `independent` is the other end.

    `shuffled` draws who asks at random, by the clients' rates. `recorded` keeps each client's own gaps, some of which come in great
    bursts: what is asked for then differs from minute to minute.
    """

    # Of the day that was recorded.
    hour: Annotated[int, msgspec.Meta(ge=0, lt=HOURS)] = 12
    # How the fields of an ask hang together.
    draw: Literal["comonotone", "independent"] = "comonotone"
    # Which client asks next.
    order: Literal["shuffled", "recorded"] = "shuffled"
    # Longer answers are cut, as clients' own bounds do.
    most_output_tokens: AtLeastOne = 2_000
    # Which pictures come again: see below.
    reuse: Reuse = Reuse()

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Every client's asks, merged in the order of time."""
        pictures = Pictures(self.reuse, rng)
        coming = self._recorded(rng) if self.order == "recorded" else self._shuffled(rng)
        for after_seconds, sizes in coming:
            yield self._ask(sizes, pictures, rng, after_seconds)

    def _shuffled(self, rng: random.Random) -> Iterator[tuple[float, Sizes]]:
        clients = list(self._clients())
        upto = list(itertools.accumulate(rate.per_second for rate, _ in clients))
        while True:
            ((_, sizes),) = rng.choices(clients, cum_weights=upto)
            yield rng.expovariate(upto[-1]), sizes

    def _recorded(self, rng: random.Random) -> Iterator[tuple[float, Sizes]]:
        coming = [
            (rate.gap(rng), number, rate, sizes) for number, (rate, sizes) in enumerate(self._clients())
        ]
        heapq.heapify(coming)
        before = 0.0
        while True:
            at, number, rate, sizes = coming[0]
            heapq.heapreplace(coming, (at + rate.gap(rng), number, rate, sizes))
            yield at - before, sizes
            before = at

    def _clients(self) -> Iterator[tuple[Rate, Sizes]]:
        for client in sample("servegen.json", tuple[Client, ...]):
            rate = client.rates[self.hour]
            sizes = client.sizes[self.hour * len(client.sizes) // HOURS]
            if rate is not None and sizes is not None:
                yield rate, sizes

    def _ask(self, sizes: Sizes, pictures: Pictures, rng: random.Random, after_seconds: float) -> Ask:
        drawn = [rng.random() for _ in range(4)]
        text, image, count, output = shares(4, drawn, comonotone=self.draw == "comonotone")
        return Ask(
            text_tokens=max(1, sizes.text.at(text)),
            output_tokens=min(max(1, sizes.output.at(output)), self.most_output_tokens),
            media=pictures.album(sizes.count.at(count), sizes.image.at(image)),
            after_seconds=after_seconds,
        )
