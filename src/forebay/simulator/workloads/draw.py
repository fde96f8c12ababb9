"""Every visit of a run: what is asked, and when it comes. The same seed draws the same visits, whatever policy serves them."""

import random
from collections.abc import Iterable, Iterator, Sequence

from forebay.simulator.scenario import Arrivals, Scenario
from forebay.simulator.visits import Visit
from forebay.simulator.workloads.ask import Ask
from forebay.simulator.workloads.requests import visit


def visits_of(scenario: Scenario, seed: int) -> list[Visit]:
    """The visits of a scenario, in the order of their coming."""
    streams = [part.workload.asks(_chance(seed, f"part {at}")) for at, part in enumerate(scenario.parts)]
    weights = [part.weight for part in scenario.parts]
    arrivals = scenario.arrivals
    timed: Iterable[tuple[float, Ask]]
    if arrivals is not None and arrivals.as_recorded:
        timed = _as_recorded(streams, weights, scenario.requests, arrivals.rate_per_second)
    else:
        timed = _one_by_one(streams, weights, arrivals, scenario.requests, seed)
    return [visit(number, at, ask) for number, (at, ask) in enumerate(timed)]


def _chance(seed: int, purpose: str) -> random.Random:
    """A generator of its own for each purpose: so the sizes stay as they are when the rate changes."""
    return random.Random(f"{seed} {purpose}")


def _one_by_one(
    streams: Sequence[Iterator[Ask]],
    weights: Sequence[float],
    arrivals: Arrivals | None,
    count: int,
    seed: int,
) -> Iterator[tuple[float, Ask]]:
    which, when = _chance(seed, "which"), _chance(seed, "when")
    at = 0.0
    for _ in range(count):
        if arrivals is not None:
            at += _gap(arrivals, when)
        (stream,) = which.choices(streams, weights)
        yield at, next(stream)


def _gap(arrivals: Arrivals, rng: random.Random) -> float:
    """Seconds. Of a gamma distribution of shape k the coefficient of variation is k^-1/2."""
    shape = arrivals.cv**-2
    return rng.gammavariate(shape, 1 / (shape * arrivals.rate_per_second))


def _as_recorded(
    streams: Sequence[Iterator[Ask]], weights: Sequence[float], count: int, rate: float
) -> list[tuple[float, Ask]]:
    """Each part's own times, stretched so that all together have the rate, and each its part of it."""
    timed: list[tuple[float, Ask]] = []
    for stream, weight in zip(streams, weights, strict=True):
        share = weight / sum(weights)
        asks = [next(stream) for _ in range(max(1, round(share * count)))]
        own_seconds = sum(ask.after_seconds for ask in asks)
        stretch = len(asks) / (share * rate) / own_seconds if own_seconds else 0.0
        at = 0.0
        for ask in asks:
            at += ask.after_seconds * stretch
            timed.append((at, ask))
    return sorted(timed, key=lambda one: one[0])
