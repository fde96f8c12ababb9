"""How long one placement decision takes in this process, by profile and pool size. No network, no engine."""

import statistics
import time
from random import Random

from forebay.conductor.peers import Peers
from forebay.conductor.pool import Pool
from forebay.placement.catalogue import PROFILES
from forebay.testing.bench.results import DecisionTime
from forebay.testing.build import picture, pool, profile, request, view

SIZES = (2, 8, 32, 1024)
BATCHES = 7
# A batch takes some 10 ms, long against the clock and short against a neighbour's burst.
BATCH_SECONDS = 0.01


def measure_decisions() -> list[DecisionTime]:
    """Every profile over every size: the median of BATCHES means, for one request with a picture."""
    return [
        DecisionTime(name, endpoints, _median_us(name, endpoints)) for name in PROFILES for endpoints in SIZES
    ]


def _median_us(name: str, endpoints: int) -> float:
    found = Pool(pool(endpoints, profile=profile(name)), Peers(0, 1), 0, fresh=False)
    for slot in found.slots():
        found.viewed(view(slot, running=float(slot % 7), waiting=float(slot % 3), kv_usage=slot % 10 / 10), 0)
    asked = request(media=(picture(),), prefix_blocks=(1, 2), prefix_tokens=(64, 464))
    demand, chance = found.demand(asked), Random(0)

    def batch(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            found.place(found.ask(asked, demand, 1_000, ()), chance)
        return (time.perf_counter() - began) / count

    count = max(1, round(BATCH_SECONDS / batch(3)))
    return statistics.median(batch(count) for _ in range(BATCHES)) * 1e6
