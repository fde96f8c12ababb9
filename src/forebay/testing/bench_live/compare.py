"""Live beside simulated: figures, differences, and whether they are within what was promised."""

from collections.abc import Callable, Sequence
from statistics import fmean, pstdev

import msgspec

from forebay.simulator.results import FIRST_CUT, LAST_CUT, Spread, spread
from forebay.simulator.visits import Story
from forebay.testing.bench_live.twin import Seen

MEAN_BOUND = 0.10
P99_BOUND = 0.20
"""Live against simulated, as a share of the simulated."""
FIGURES = ("mean", "p50", "p99")
BOUNDS = {"mean": MEAN_BOUND, "p99": P99_BOUND}
MEASURES: dict[str, Callable[[Story], float]] = {
    "E2E": lambda story: story.e2e,
    "TTFT": lambda story: story.ttft,
}


class Line(msgspec.Struct, frozen=True):
    """One figure of one profile. Seconds of the scenario. `met` is None for figures without a bound.

    `simulated` is the mean over all simulations, and `chance` their standard deviation as a share of it.
    """

    profile: str
    measure: str
    figure: str
    live: float
    simulated: float
    chance: float
    met: bool | None

    @property
    def difference(self) -> float:
        """Live over simulated, less 1."""
        return self.live / self.simulated - 1 if self.simulated else 0.0

    @property
    def by_chance(self) -> bool:
        """Whether simulations differ as much from each other, in one case of twenty."""
        return abs(self.difference) <= 2 * self.chance


class Twins(msgspec.Struct, frozen=True):
    """One profile, both ways."""

    profile: str
    lines: tuple[Line, ...]
    requests: int
    counted: int
    refused_live: int
    refused_simulated: float
    lateness_seconds: float
    outside_seconds: Spread


def compare(profile: str, seen: Seen, simulated: Sequence[Seen]) -> Twins:
    """Of the visits between warm-up and run-out that were served whole every time, which are the same ones."""
    rows = zip(seen.stories, *(one.stories for one in simulated), strict=True)
    whole = [row for row in rows if all(story.whole for story in row)]
    kept = whole[int(len(whole) * FIRST_CUT) : int(len(whole) * (1 - LAST_CUT))]
    lines: list[Line] = []
    for name, measure in MEASURES.items():
        ours, *theirs = (spread([measure(row[run]) for row in kept]) for run in range(1 + len(simulated)))
        lines += _lines(profile, name, ours, theirs)
    return Twins(
        profile=profile,
        lines=tuple(lines),
        requests=len(seen.stories),
        counted=len(kept),
        refused_live=sum(1 for story in seen.stories if story.refused),
        refused_simulated=fmean(sum(1 for s in one.stories if s.refused) for one in simulated),
        lateness_seconds=seen.lateness_seconds,
        outside_seconds=spread(seen.outside_seconds),
    )


def _lines(profile: str, measure: str, live: Spread, simulated: Sequence[Spread]) -> list[Line]:
    lines = []
    for figure in FIGURES:
        ours, theirs = getattr(live, figure), [getattr(one, figure) for one in simulated]
        mean, bound = fmean(theirs), BOUNDS.get(figure)
        met = None if bound is None else mean > 0 and abs(ours / mean - 1) <= bound
        lines.append(Line(profile, measure, figure, ours, mean, pstdev(theirs) / mean if mean else 0.0, met))
    return lines
