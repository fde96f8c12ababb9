"""The workers of a gateway, as Prometheus families."""

from collections.abc import Iterable, Iterator

import msgspec
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric


class WorkerStatus(msgspec.Struct, frozen=True):
    """One worker: its number from 0, whether it takes connections, and how often it had to be started again."""

    worker: int
    up: bool = True
    restarts: int = 0


ALONE = (WorkerStatus(0),)
"""The worker of a gateway that is one process."""


def worker_families(workers: Iterable[WorkerStatus]) -> Iterator[Metric]:
    """Yield every family, as of now."""
    up = GaugeMetricFamily("forebay_worker_up", "Whether the worker takes connections.", labels=["worker"])
    restarts = CounterMetricFamily(
        "forebay_worker_restarts", "Times that the worker's process was started again.", labels=["worker"]
    )
    for each in workers:
        up.add_metric([str(each.worker)], float(each.up))
        restarts.add_metric([str(each.worker)], each.restarts)
    yield from (up, restarts)
