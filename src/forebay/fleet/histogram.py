"""Percentiles of a Prometheus histogram over the last scrapes.

An engine's buckets count since it started. What happened lately is the difference between two scrapes, summed over ranks.
"""

import itertools
import math
from collections import deque
from collections.abc import Sequence

import msgspec

from forebay.fleet.metrics import Sample


class Buckets(msgspec.Struct, frozen=True, gc=False):
    """Cumulative counts by upper edge in seconds, the last edge infinite."""

    edges: tuple[float, ...]
    counts: tuple[float, ...]


def buckets(samples: Sequence[Sample], name: str) -> Buckets | None:
    """Return the series called `name` (with its `_bucket` suffix) summed over all other labels, None if there is none."""
    sums: dict[float, float] = {}
    for sample in samples:
        if sample.name == name and (edge := _edge(sample.labels.get("le", ""))) is not None:
            sums[edge] = sums.get(edge, 0.0) + sample.value
    if not sums or math.inf not in sums:
        return None
    edges = tuple(sorted(sums))
    return Buckets(edges, tuple(sums[edge] for edge in edges))


def _edge(label: str) -> float | None:
    try:
        edge = float(label)
    except ValueError:
        return None
    return None if math.isnan(edge) else edge


def quantile(share: float, edges: Sequence[float], counts: Sequence[float]) -> float | None:
    """Return the value below which `share` (0..1) of the cumulative `counts` lie, as Prometheus' histogram_quantile does.

    Linear inside a bucket, which begins at 0 for the first; the highest finite edge when it lies beyond that. None when
    nothing was counted.
    """
    total = counts[-1]
    if not total > 0:
        return None
    rank = share * total
    place = next(i for i, count in enumerate(counts) if count >= rank)
    if math.isinf(edges[place]):
        return edges[place - 1] if place else None
    below, low = (counts[place - 1], edges[place - 1]) if place else (0.0, 0.0)
    inside = counts[place] - below
    return low + (edges[place] - low) * ((rank - below) / inside if inside else 1.0)


class Window:
    """The last `span_us` of one histogram. At half a second between scrapes, ten seconds hold hundreds of gaps."""

    def __init__(self, span_us: int = 10_000_000) -> None:
        self._span_us = span_us
        self._seen: deque[tuple[int, Buckets]] = deque()

    def add(self, at: int, seen: Buckets | None) -> None:
        """Take in one scrape. A histogram that vanished, shrank or changed its edges begins anew."""
        if seen is None:
            self._seen.clear()
            return
        if self._seen and _restarted(self._seen[-1][1], seen):
            self._seen.clear()
        self._seen.append((at, seen))
        # The one just outside the span stays: the difference to it covers the whole span.
        while len(self._seen) > 2 and self._seen[1][0] <= at - self._span_us:
            self._seen.popleft()

    def quantile(self, share: float) -> float | None:
        """Return that quantile in seconds over the window, None while nothing was counted in it."""
        if len(self._seen) < 2:
            return None
        first, last = self._seen[0][1], self._seen[-1][1]
        recent = [new - old for new, old in zip(last.counts, first.counts, strict=True)]
        # Ranks are not read at one instant, so that a sum may dip between neighbouring edges.
        return quantile(share, last.edges, list(itertools.accumulate(recent, max)))


def _restarted(old: Buckets, new: Buckets) -> bool:
    return old.edges != new.edges or new.counts[-1] < old.counts[-1]
