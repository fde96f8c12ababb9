"""Live beside simulated: figures, differences, and whether they are within what was promised."""

from collections.abc import Callable

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
    """One figure of one profile. Seconds of the scenario. `met` is None for figures without a bound."""

    profile: str
    measure: str
    figure: str
    live: float
    simulated: float
    met: bool | None

    @property
    def difference(self) -> float:
        """Live over simulated, less 1."""
        return self.live / self.simulated - 1 if self.simulated else 0.0


class Twins(msgspec.Struct, frozen=True):
    """One profile, both ways."""

    profile: str
    lines: tuple[Line, ...]
    requests: int
    counted: int
    refused_live: int
    refused_simulated: int
    lateness_seconds: float
    outside_seconds: Spread


def compare(profile: str, seen: Seen, simulated: Seen) -> Twins:
    """Of the visits between warm-up and run-out that were served whole on both sides, which are the same ones."""
    both = zip(seen.stories, simulated.stories, strict=True)
    pairs = [(one, two) for one, two in both if one.whole and two.whole]
    kept = pairs[int(len(pairs) * FIRST_CUT) : int(len(pairs) * (1 - LAST_CUT))]
    lines: list[Line] = []
    for name, measure in MEASURES.items():
        ours, theirs = (spread([measure(pair[side]) for pair in kept]) for side in (0, 1))
        lines += _lines(profile, name, ours, theirs)
    return Twins(
        profile=profile,
        lines=tuple(lines),
        requests=len(seen.stories),
        counted=len(kept),
        refused_live=sum(1 for story in seen.stories if story.refused),
        refused_simulated=sum(1 for story in simulated.stories if story.refused),
        lateness_seconds=seen.lateness_seconds,
        outside_seconds=spread(seen.outside_seconds),
    )


def _lines(profile: str, measure: str, live: Spread, simulated: Spread) -> list[Line]:
    lines = []
    for figure in FIGURES:
        ours, theirs = getattr(live, figure), getattr(simulated, figure)
        bound = BOUNDS.get(figure)
        met = None if bound is None else theirs > 0 and abs(ours / theirs - 1) <= bound
        lines.append(Line(profile, measure, figure, ours, theirs, met))
    return lines
