"""Plain counts, made to be added to quickly, sent to another process, and summed there."""

import copy
from bisect import bisect_left
from typing import Any

import msgspec

PER_DECADE = 5
"""Buckets per factor of ten. Neighbouring edges differ by 58 %, so that a percentile read from them is off by at most
26 % (the root of 1.58) when the middle of its bucket is taken."""


def log_edges(lowest: float, decades: int) -> tuple[float, ...]:
    """Return log-spaced edges in seconds from `lowest`, rounded to three digits so that labels stay readable."""
    exact = [lowest * 10 ** (step / PER_DECADE) for step in range(decades * PER_DECADE + 1)]
    return tuple(float(f"{edge:.3g}") for edge in exact)


FIRST_TOKEN_EDGES = log_edges(0.001, 5)  # 1 ms to 100 s: a cached prompt, to a video behind a queue
DURATION_EDGES = log_edges(0.01, 5)  # 10 ms to 1,000 s
GAP_EDGES = log_edges(0.001, 4)  # 1 ms to 10 s


class Histogram(msgspec.Struct):
    """Counts per bucket; the last bucket is beyond the highest edge. Edges are upper bounds, in microseconds."""

    edges_us: tuple[int, ...]
    counts: list[int]
    sum_us: int = 0

    @classmethod
    def over(cls, edges_seconds: tuple[float, ...]) -> "Histogram":
        """Return an empty one with these edges."""
        return cls(tuple(round(edge * 1e6) for edge in edges_seconds), [0] * (len(edges_seconds) + 1))

    def add(self, value_us: int) -> None:
        """Count one value."""
        self.counts[bisect_left(self.edges_us, value_us)] += 1
        self.sum_us += value_us


class PoolTally(msgspec.Struct):
    """Counts of one pool since the process began.

    Token lists follow `domain.ability.MODALITIES`: text, image, audio, video. `prompt_tokens` are the engine's count where
    it gave one; `predicted_tokens` are ours, of the same requests.
    """

    endings: dict[str, int] = {}
    rejections: dict[str, int] = {}
    failures: dict[str, int] = {}
    decisions: dict[str, int] = {}
    retries: int = 0
    prompt_tokens: list[int] = msgspec.field(default_factory=lambda: [0] * 4)
    predicted_tokens: list[int] = msgspec.field(default_factory=lambda: [0] * 4)
    cached_tokens: int = 0
    completion_tokens: int = 0
    first_token: Histogram = msgspec.field(default_factory=lambda: Histogram.over(FIRST_TOKEN_EDGES))
    duration: Histogram = msgspec.field(default_factory=lambda: Histogram.over(DURATION_EDGES))
    gap: Histogram = msgspec.field(default_factory=lambda: Histogram.over(GAP_EDGES))
    body_bytes: int = 0
    reply_bytes: int = 0


class Tally(msgspec.Struct):
    """All counts of one process: by pool, and replies by path and status."""

    pools: dict[str, PoolTally] = {}
    replies: dict[str, dict[int, int]] = {}


def summed(tallies: list[Tally]) -> Tally:
    """Return the sum over processes, sharing nothing with its parts."""
    total = Tally()
    for tally in tallies:
        total = _plus(total, tally)
    return total


def _plus(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return copy.deepcopy(other if one is None else one)
    if isinstance(one, msgspec.Struct):
        fields = one.__struct_fields__
        return type(one)(*(_plus(getattr(one, name), getattr(other, name)) for name in fields))
    if isinstance(one, dict):
        return {key: _plus(one.get(key), other.get(key)) for key in {**one, **other}}
    if isinstance(one, list):
        return [a + b for a, b in zip(one, other, strict=True)]
    # Edges are the same everywhere.
    return one if isinstance(one, tuple) else one + other
