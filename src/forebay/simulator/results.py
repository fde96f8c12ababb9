"""What a run says: figures over the requests between warm-up and run-out, and the series that they were made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from forebay.simulator.engine.device import load_device
from forebay.simulator.scenario import Scenario
from forebay.simulator.visits import Story, Visit
from forebay.simulator.world import World

FIRST_CUT = 0.10
"""Requests of the first tenth meet a fleet that is still filling."""
LAST_CUT = 0.05
"""And the last ones one that empties."""
BUSY = 4.0
"""Requests in flight per endpoint from which on their ratio means something: of two and one it would be 1.3."""

Floats = npt.NDArray[np.float64]


class Spread(msgspec.Struct, frozen=True):
    """Seconds. NaN-free: all 0 where nothing was measured."""

    mean: float = 0.0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0

    @property
    def jitter(self) -> float:
        """P99 - P50."""
        return self.p99 - self.p50


class Figures(msgspec.Struct, frozen=True):
    """Of the requests that were counted.

    `kv_mean`, `kv_std` and `kv_cv` are of the endpoints' KV occupancies, as shares of their capacities: mean over endpoints,
    standard deviation over endpoints, and their ratio, each as its mean over time. `imbalance` is the largest over the mean
    number of requests in flight, of averages over 1 s, as its mean over the seconds with at least 4 on average. Throughput is of
    requests that ended while the counted ones arrived. `refused` were not served whole: refused, or broken off.
    """

    requests: int
    counted: int
    refused: int
    retried: int
    e2e: Spread
    ttft: Spread
    tpot: Spread
    throughput_per_second: float
    output_tokens_per_second: float
    kv_mean: float
    kv_std: float
    kv_cv: float
    imbalance: float
    worst_imbalance: float
    preemptions: int
    virtual_seconds: float


@dataclass(frozen=True)
class Series:
    """Per request that was served whole, by arrival, in seconds: and per second of virtual time, a column for each endpoint."""

    arrived: Floats
    ttft: Floats
    e2e: Floats
    slot: npt.NDArray[np.int64]
    occupancy: Floats
    in_flight: Floats


@dataclass(frozen=True)
class Result:
    """One run. `standing` tells of each device how far its figures can be trusted."""

    scenario: str
    profile: str
    seed: int
    figures: Figures
    series: Series
    standing: dict[str, str]


def standing_of(scenario: Scenario) -> dict[str, str]:
    """What each device's figures rest on: steps, then encoder."""
    return {
        Path(name).stem: f"{device.standing}; encoder: {device.encoder_standing}"
        for name, device in ((name, load_device(name)) for name in dict.fromkeys(scenario.devices))
    }


def result_of(
    scenario: Scenario,
    profile: str,
    seed: int,
    visits: Sequence[Visit],
    stories: Sequence[Story],
    world: World,
) -> Result:
    """The result of a world that has run."""
    served = sorted((story for story in stories if story.whole), key=lambda story: story.arrived)
    kept = served[int(len(served) * FIRST_CUT) : int(len(served) * (1 - LAST_CUT))]
    series = Series(
        arrived=np.array([story.arrived for story in served]),
        ttft=np.array([story.ttft for story in served]),
        e2e=np.array([story.e2e for story in served]),
        slot=np.array([story.slot for story in served], dtype=np.int64),
        occupancy=np.array([shares for _, shares in world.occupancy]).reshape(-1, len(world.replicas)),
        in_flight=in_flight(stories, len(world.replicas), world.now),
    )
    figures = _figures(visits, stories, kept, series, world)
    return Result(scenario.name, profile, seed, figures, series, standing_of(scenario))


def _figures(
    visits: Sequence[Visit], stories: Sequence[Story], kept: Sequence[Story], series: Series, world: World
) -> Figures:
    lengths = [visits[story.number].output_tokens for story in kept]
    rates = _rates(visits, stories, kept)
    kv_mean, kv_std, kv_cv = balance(_middle(series.occupancy))
    ratios = imbalance(_middle(series.in_flight))
    return Figures(
        requests=len(visits),
        counted=len(kept),
        refused=sum(1 for story in stories if story.refused),
        retried=sum(1 for story in stories if story.tries > 1),
        e2e=spread([story.e2e for story in kept]),
        ttft=spread([story.ttft for story in kept]),
        tpot=spread(
            [
                (story.e2e - story.ttft) / (length - 1)
                for story, length in zip(kept, lengths, strict=True)
                if length > 1
            ]
        ),
        throughput_per_second=rates[0],
        output_tokens_per_second=rates[1],
        kv_mean=kv_mean,
        kv_std=kv_std,
        kv_cv=kv_cv,
        imbalance=float(ratios.mean()) if len(ratios) else 0.0,
        worst_imbalance=float(ratios.max()) if len(ratios) else 0.0,
        preemptions=sum(replica.engine.preemptions for replica in world.replicas.values()),
        virtual_seconds=world.now,
    )


def _rates(visits: Sequence[Visit], stories: Sequence[Story], kept: Sequence[Story]) -> tuple[float, float]:
    """Requests, and tokens of their answers, a second: of those that ended while the counted ones arrived."""
    begin, end = (kept[0].arrived, kept[-1].arrived) if kept else (0.0, 0.0)
    if end <= begin:
        return 0.0, 0.0
    ended = [
        visits[story.number].output_tokens for story in stories if story.whole and begin <= story.ended < end
    ]
    return len(ended) / (end - begin), sum(ended) / (end - begin)


def spread(seconds: Sequence[float]) -> Spread:
    """Mean and percentiles, these interpolated between neighbours."""
    if not len(seconds):
        return Spread()
    p50, p90, p99 = np.percentile(seconds, (50, 90, 99))
    return Spread(float(np.mean(seconds)), float(p50), float(p90), float(p99))


def balance(occupancy: Floats) -> tuple[float, float, float]:
    """Mean, standard deviation and coefficient of variation over endpoints, each as its mean over time. NaN is nobody."""
    seen = occupancy[~np.isnan(occupancy).all(axis=1)]
    if not len(seen):
        return 0.0, 0.0, 0.0
    means, stds = np.nanmean(seen, axis=1), np.nanstd(seen, axis=1)
    some = means > 0
    cv = float((stds[some] / means[some]).mean()) if some.any() else 0.0
    return float(means.mean()), float(stds.mean()), cv


def imbalance(counts: Floats) -> Floats:
    """Largest over mean of each row whose mean is at least BUSY."""
    means = counts.mean(axis=1)
    busy = means >= BUSY
    ratios: Floats = counts[busy].max(axis=1) / means[busy]
    return ratios


def in_flight(stories: Sequence[Story], endpoints: int, until: float) -> Floats:
    """Requests in flight at each endpoint, exact averages over each whole second up to `until`: rows of seconds."""
    grid = np.arange(0.0, np.floor(until) + 1)
    averages = np.zeros((len(grid) - 1, endpoints))
    for slot in range(endpoints):
        here = [story for story in stories if story.slot == slot and story.sent >= 0]
        began = _integral(np.sort([story.sent for story in here]), grid)
        ended = _integral(np.sort([story.ended if story.ended >= 0 else until for story in here]), grid)
        averages[:, slot] = np.diff(began - ended)
    return averages


def _integral(moments: Floats, at: Floats) -> Floats:
    """The integral from 0 to each of `at` of how many sorted `moments` are over."""
    before = np.searchsorted(moments, at, side="right")
    summed = np.concatenate(([0.0], np.cumsum(moments)))
    integral: Floats = before * at - summed[before]
    return integral


def _middle(rows: Floats) -> Floats:
    """Without the first and the last tenth of the time."""
    return rows[int(len(rows) * FIRST_CUT) : max(int(len(rows) * 0.9), 1)]
