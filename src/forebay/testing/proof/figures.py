"""The figures that are compared, each a number of one run, of which less is better."""

from collections.abc import Callable, Mapping

from forebay.simulator.results import Figures

FIGURES: Mapping[str, Callable[[Figures], float]] = {
    "E2E mean": lambda figures: figures.e2e.mean,
    "E2E jitter": lambda figures: figures.e2e.jitter,
    "TTFT mean": lambda figures: figures.ttft.mean,
    "TTFT jitter": lambda figures: figures.ttft.jitter,
    "KV std": lambda figures: figures.kv_std,
}
"""Jitter is P99 - P50. KV std is over endpoints, of shares of each one's capacity."""

LARGER_IS_BETTER: Mapping[str, Callable[[Figures], float]] = {
    "throughput": lambda figures: figures.throughput_per_second,
}
