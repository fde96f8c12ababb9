"""Pages of counters as Prometheus metrics."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from forebay_vllm.page import BUCKETS_SECONDS, MODALITIES, NOTHING, Row, read


class EncoderCollector(Collector):
    """Adds up the pages of a folder at each scrape. Pages of processes that have ended still count, as counters must."""

    def __init__(self, folder: Path) -> None:
        """Look into `folder`, which may be empty for now."""
        self._folder = folder

    def describe(self) -> Iterable[Metric]:
        """Of no page: registering must not read files."""
        return _metrics({})

    def collect(self) -> Iterator[Metric]:
        """The two metrics, with a sample for each modality that was seen."""
        totals: dict[str, Row] = {}
        for path in sorted(self._folder.glob("*.page")):
            for modality, row in read(path).items():
                totals[modality] = totals.get(modality, NOTHING) + row
        return _metrics(totals)


def _metrics(totals: dict[str, Row]) -> Iterator[Metric]:
    seconds = HistogramMetricFamily(
        "forebay_vllm_encoder_seconds", "Time of one encoder call, for a batch of items.", labels=["modality"]
    )
    items = CounterMetricFamily("forebay_vllm_encoder_items", "Items that were encoded.", labels=["modality"])
    for modality in MODALITIES:
        row = totals.get(modality, NOTHING)
        if row.items:
            bounds = [*map(str, BUCKETS_SECONDS), "+Inf"]
            counts = list(itertools.accumulate(row.buckets))
            seconds.add_metric(
                [modality], list(zip(bounds, counts, strict=True)), sum_value=row.microseconds / 1e6
            )
            items.add_metric([modality], row.items)
    yield seconds
    yield items
