"""The figures that are compared, each a number of one run, of which less is better."""

from collections.abc import Callable, Mapping

import numpy as np

from forebay.simulator.results import Result, Series

Read = Callable[[Result], float]

FIGURES: Mapping[str, Read] = {
    "E2E mean": lambda result: result.figures.e2e.mean,
    "E2E jitter": lambda result: result.figures.e2e.jitter,
    "TTFT mean": lambda result: result.figures.ttft.mean,
    "TTFT jitter": lambda result: result.figures.ttft.jitter,
    "KV std": lambda result: result.figures.kv_std,
    "imbalance": lambda result: result.figures.imbalance,
}
"""Jitter is P99 - P50. KV std is over endpoints, of shares of each one's capacity. Imbalance is the largest over the mean number of
requests in flight, of averages over a second."""

THROUGHPUT: Read = lambda result: result.figures.throughput_per_second  # noqa: E731  one of a table

WINDOW_SECONDS = 5.0
BEFORE_SECONDS = 20.0
RECOVERED = 1.5


def recovery_seconds(series: Series, incident_at: float) -> float:
    """Seconds from an incident until the P99 of the times to first token is back for good.

    Back is at most 1.5 times what it was in the 20 s before; it is looked at in windows of 5 s, so that this is a multiple of
    them. What never comes back counts up to the end of the run.
    """
    before = _p99(series, incident_at - BEFORE_SECONDS, incident_at)
    end = float(series.arrived[-1]) if len(series.arrived) else incident_at
    windows = np.arange(incident_at, max(incident_at, end - WINDOW_SECONDS), WINDOW_SECONDS)
    late = [start for start in windows if _p99(series, start, start + WINDOW_SECONDS) > RECOVERED * before]
    return float(late[-1] - incident_at + WINDOW_SECONDS) if late else 0.0


def _p99(series: Series, start: float, end: float) -> float:
    here = series.ttft[(series.arrived >= start) & (series.arrived < end)]
    return float(np.percentile(here, 99)) if len(here) else 0.0
