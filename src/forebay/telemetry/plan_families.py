"""The plan in force, and where its endpoints are found out from, as Prometheus families."""

from collections.abc import Iterator

import msgspec
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric


class SourceStatus(msgspec.Struct, frozen=True):
    """One source of endpoints. `age_seconds` is how long ago it was last understood, None if never."""

    source: str
    endpoints: int
    failures: int
    age_seconds: float | None


class PlanStatus(msgspec.Struct, frozen=True):
    """How the plan stands: its version, whether the last reload was taken over, how many were not."""

    version: int
    last_good: bool = True
    failures: int = 0
    sources: tuple[SourceStatus, ...] = ()


def plan_families(status: PlanStatus) -> Iterator[Metric]:
    """Yield every family, as of now."""
    yield GaugeMetricFamily(
        "forebay_plan_version", "Version of the plan that is in force.", value=status.version
    )
    yield GaugeMetricFamily(
        "forebay_reload_last_good", "Whether the last reload was taken over.", value=float(status.last_good)
    )
    yield CounterMetricFamily(
        "forebay_reload_failures", "Reloads that were refused, the old plan staying.", value=status.failures
    )
    yield from _sources(status.sources)


def _sources(sources: tuple[SourceStatus, ...]) -> Iterator[Metric]:
    labels = ["source"]
    found = GaugeMetricFamily(
        "forebay_discovery_endpoints", "Endpoints that a source gave last.", labels=labels
    )
    age = GaugeMetricFamily(
        "forebay_discovery_age_seconds", "Since a source last gave an answer that is used.", labels=labels
    )
    failures = CounterMetricFamily(
        "forebay_discovery_failures", "Looks at a source that gave nothing to use.", labels=labels
    )
    for each in sources:
        found.add_metric([each.source], each.endpoints)
        failures.add_metric([each.source], each.failures)
        if each.age_seconds is not None:
            age.add_metric([each.source], each.age_seconds)
    yield from (found, age, failures)
