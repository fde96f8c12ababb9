"""Counts and beliefs as Prometheus families, made at scrape."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from forebay import __version__
from forebay.domain.ability import MODALITIES
from forebay.telemetry.endpoints_json import EndpointRow, age_seconds, belief
from forebay.telemetry.tally import Histogram, PoolTally, Tally

MODALITY_NAMES = tuple(str(modality.name).lower() for modality in MODALITIES)

_BELIEFS = (
    ("forebay_endpoint_in_flight", "Requests that this gateway has open there.", "in_flight"),
    ("forebay_endpoint_running", "Requests running there, as last scraped.", "running"),
    ("forebay_endpoint_waiting", "Requests waiting there, as last scraped.", "waiting"),
    ("forebay_endpoint_kv_usage_ratio", "Use of the KV cache there, as last scraped.", "kv_usage"),
    ("forebay_endpoint_usable", "Whether requests may be sent there.", "usable"),
)


class ForebayCollector(Collector):
    """Renders on demand.

    `tally` gives the counts (summed over workers), `rows` the fleet, `clock` microseconds, `losses` further counters by
    family name without `_total`, `further` whole families. Label values are pools, endpoints and sources of the plan and
    enums of ours: bounded.
    """

    def __init__(
        self,
        tally: Callable[[], Tally],
        rows: Callable[[], Sequence[EndpointRow]],
        clock: Callable[[], int],
        losses: Callable[[], dict[str, int]] = dict,
        further: Callable[[], Iterable[Metric]] = tuple,
    ) -> None:
        self._tally = tally
        self._rows = rows
        self._clock = clock
        self._losses = losses
        self._further = further

    def describe(self) -> Iterable[Metric]:
        """Nothing: families depend on the plan, and a registry need not call `collect` to learn names."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield every family, as of now."""
        yield InfoMetricFamily("forebay_build", "Version that is running.", {"version": __version__})
        tally = self._tally()
        yield from _requests(tally.pools)
        yield from _tokens(tally.pools)
        yield from _durations(tally.pools)
        yield from _wire(tally)
        yield from _endpoints(self._rows(), self._clock())
        yield from self._further()
        for name, value in self._losses().items():
            yield CounterMetricFamily(name, f"Count of {name.replace('_', ' ')}.", value=value)


def exposition(collector: Collector, accept: str) -> tuple[str, bytes]:
    """Return content type and body, as OpenMetrics when the Accept header asks for it and else as plain text."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    encode, content_type = choose_encoder(accept)
    return content_type, encode(registry)


Pools = dict[str, PoolTally]


def _by_reason(name: str, text: str, label: str, pools: Pools, field: str) -> Metric:
    family = CounterMetricFamily(name, text, labels=["pool", label])
    for pool, tally in pools.items():
        for reason, count in getattr(tally, field).items():
            family.add_metric([pool, reason], count)
    return family


def _requests(pools: Pools) -> Iterator[Metric]:
    yield _by_reason("forebay_requests", "Requests by how they ended.", "ending", pools, "endings")
    yield _by_reason("forebay_rejections", "Requests rejected, by reason.", "reason", pools, "rejections")
    yield _by_reason("forebay_failures", "Requests failed, by reason.", "reason", pools, "failures")
    yield _by_reason("forebay_decisions", "Placements by what came of them.", "reason", pools, "decisions")
    yield _count("forebay_retries", "Attempts beyond a request's first.", pools, "retries")


def _count(name: str, text: str, pools: Pools, field: str) -> Metric:
    family = CounterMetricFamily(name, text, labels=["pool"])
    for pool, tally in pools.items():
        family.add_metric([pool], getattr(tally, field))
    return family


def _tokens(pools: Pools) -> Iterator[Metric]:
    counted = CounterMetricFamily(
        "forebay_tokens",
        "Tokens of prompts (engine's count where it gave one) and completions.",
        labels=["pool", "kind", "modality"],
    )
    predicted = CounterMetricFamily(
        "forebay_predicted_prompt_tokens",
        "Prompt tokens as predicted, of requests that were answered.",
        labels=["pool", "modality"],
    )
    for pool, tally in pools.items():
        for name, tokens, ours in zip(
            MODALITY_NAMES, tally.prompt_tokens, tally.predicted_tokens, strict=True
        ):
            counted.add_metric([pool, "prompt", name], tokens)
            predicted.add_metric([pool, name], ours)
        counted.add_metric([pool, "completion", "text"], tally.completion_tokens)
    yield counted
    yield predicted
    yield _count(
        "forebay_cached_prompt_tokens", "Prompt tokens that engines found cached.", pools, "cached_tokens"
    )


def _durations(pools: Pools) -> Iterator[Metric]:
    for name, text, field in (
        ("forebay_time_to_first_token_seconds", "From arrival to the first content.", "first_token"),
        ("forebay_request_duration_seconds", "From arrival to the end.", "duration"),
        ("forebay_token_gap_seconds", "Between two pieces of content of one stream.", "gap"),
    ):
        family = HistogramMetricFamily(name, text, labels=["pool"])
        for pool, tally in pools.items():
            histogram: Histogram = getattr(tally, field)
            family.add_metric([pool], _cumulative(histogram), histogram.sum_us / 1e6)
        yield family


def _cumulative(histogram: Histogram) -> list[tuple[str, int]]:
    labels = [*(str(edge / 1e6) for edge in histogram.edges_us), "+Inf"]
    total = 0
    rows = []
    for label, count in zip(labels, histogram.counts, strict=True):
        total += count
        rows.append((label, total))
    return rows


def _wire(tally: Tally) -> Iterator[Metric]:
    yield _count("forebay_received_bytes", "Bytes of request bodies.", tally.pools, "body_bytes")
    yield _count("forebay_sent_bytes", "Bytes of reply bodies.", tally.pools, "reply_bytes")
    replies = CounterMetricFamily(
        "forebay_http_replies", "Replies to clients, 499 for one that left.", labels=["api", "status"]
    )
    for api, statuses in tally.replies.items():
        for status, count in statuses.items():
            replies.add_metric([api, str(status)], count)
    yield replies


def _endpoints(rows: Sequence[EndpointRow], at: int) -> Iterator[Metric]:
    # What is unknown has no sample: a zero would be a lie, and NaN spoils sums.
    yield _gauge("forebay_endpoint_up", "Whether its last health probe was answered.", rows, _up)
    for name, text, field in _BELIEFS:
        yield _gauge(name, text, rows, _reader(field))
    yield _gauge(
        "forebay_endpoint_view_age_seconds",
        "Age of the last scrape.",
        rows,
        lambda row: age_seconds(row.beliefs, at),
    )


def _reader(field: str) -> Callable[[EndpointRow], float | None]:
    return lambda row: belief(row.beliefs, field)


def _up(row: EndpointRow) -> float | None:
    reachable: Any = None if row.view is None else row.view.reachable
    return None if reachable is None else float(reachable)


def _gauge(
    name: str, text: str, rows: Sequence[EndpointRow], read: Callable[[EndpointRow], float | None]
) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["pool", "endpoint"])
    for row in rows:
        value = read(row)
        if value is not None:
            family.add_metric([row.pool, row.endpoint.name], value)
    return family
