"""From samples to figures: medians over rounds, ratios and differences paired within each round."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forebay.testing.bench.results import Report, Sample


class Spread(NamedTuple):
    """A median with the least and the largest of the rounds."""

    median: float
    least: float
    largest: float


def spread(values: Iterable[float]) -> Spread | None:
    """Of one value per round; None when there are none."""
    found = list(values)
    return Spread(statistics.median(found), min(found), max(found)) if found else None


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0..1] of all values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class Figures:
    """The figures of one report."""

    def __init__(self, report: Report) -> None:
        """Index the samples by contestant, case and round."""
        self._samples: dict[tuple[str, str], dict[int, Sample]] = {}
        for sample in report.samples:
            self._samples.setdefault((sample.contestant, sample.case), {})[sample.round] = sample

    def _rounds(self, contestant: str, case: str) -> dict[int, Sample]:
        return self._samples.get((contestant, case), {})

    def cpu_us(self, contestant: str, case: str) -> Spread | None:
        """CPU microseconds for each request, or content chunk."""
        return spread(sample.cpu_us for sample in self._rounds(contestant, case).values())

    def ratio(self, contestant: str, peer: str, case: str) -> Spread | None:
        """CPU of one contestant over CPU of the other, each round on its own."""
        peers = self._rounds(peer, case)
        pairs = ((mine, peers.get(number)) for number, mine in self._rounds(contestant, case).items())
        return spread(
            mine.cpu_us / other.cpu_us for mine, other in pairs if other is not None and other.cpu_us > 0
        )

    def latency_us(self, contestant: str, case: str, share: float) -> Spread | None:
        """A percentile of the latency, as a client sees it."""
        return spread(
            percentile(sample.load.latencies_us, share)
            for sample in self._rounds(contestant, case).values()
            if sample.load.latencies_us
        )

    def added_us(self, contestant: str, case: str, share: float) -> Spread | None:
        """That percentile less the one without a router, each round on its own."""
        direct = self._rounds("direct", case)
        return spread(
            percentile(sample.load.latencies_us, share) - percentile(direct[number].load.latencies_us, share)
            for number, sample in self._rounds(contestant, case).items()
            if sample.load.latencies_us and number in direct and direct[number].load.latencies_us
        )

    def faults(self, contestant: str) -> tuple[int, str]:
        """Wrong answers in all rounds, and what was wrong with the first."""
        loads = [
            s.load for (who, _), rounds in self._samples.items() if who == contestant for s in rounds.values()
        ]
        return sum(load.wrong for load in loads), next(
            (load.first_wrong for load in loads if load.first_wrong), ""
        )

    def rewrites(self, contestant: str) -> tuple[bool, bool]:
        """Whether the engines saw other request bytes, and the clients other answer bytes, than were sent."""
        loads = [
            s.load for (who, _), rounds in self._samples.items() if who == contestant for s in rounds.values()
        ]
        return any(load.request_rewritten for load in loads), any(load.answer_rewritten for load in loads)
