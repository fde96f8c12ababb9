"""A dialect's form, and how any of them is read.

Three rules hold for all. A newer name wins over an older one, which engines keep exporting with a stale value. Data-parallel
ranks export one series each: requests are summed, of the KV cache the fullest rank counts. What is not there is None.

A name may carry one label, as `nv_trt_llm_request_metrics{request_type=waiting}`: the form that the model-server protocol
of the Gateway API writes. It means the series with that label only.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec

from forebay.fleet.histogram import Buckets, buckets
from forebay.fleet.metrics import Sample

T = TypeVar("T")

RANK_LABELS = ("engine", "dp_rank")
"""The label that tells data-parallel ranks apart: vLLM's and SGLang's."""

_SELECTOR = re.compile(r"(?P<name>[^{]+)(?:\{(?P<label>\w+)=(?P<value>[^}]*)\})?")


@dataclass(frozen=True)
class Capacity:
    """Where the size of the KV cache stands: labels of an info series, or a product of gauges.

    `info` is a series whose labels `factors` multiply to tokens. Without `info`, `factors` are gauges.
    """

    factors: tuple[str, ...]
    info: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics to read, and their label where only one series counts."""
        return (self.info,) if self.info else self.factors


@dataclass(frozen=True)
class Dialect:
    """Meaning by meaning, the names that an engine's versions have used, newest first.

    `gaps` are histograms in seconds between two tokens, without the `_bucket` suffix. `awake` is a series and the value
    of its label `sleep_state` that is 0 while the engine sleeps with its weights out of memory. `parts` are the labels that tell
    series apart which add up: ranks, or the models of a server that holds several. `hint` tells an operator how to make a
    silent engine speak. `expected` are the fields of a Reading that every version fills.
    """

    engine: str
    running: tuple[str, ...]
    waiting: tuple[str, ...]
    kv_usage: tuple[str, ...] = ()
    capacity: tuple[Capacity, ...] = ()
    gaps: tuple[str, ...] = ()
    lora: str = ""
    awake: tuple[str, str] | None = None
    parts: tuple[str, ...] = RANK_LABELS
    path: str = "/metrics"
    hint: str = ""
    expected: tuple[str, ...] = ()

    @cached_property
    def names(self) -> frozenset[str]:
        """Every metric that is read."""
        sizes = [name for capacity in self.capacity for name in capacity.names]
        gaps = [f"{name}_bucket" for name in self.gaps]
        lora = [self.lora] if self.lora else []
        awake = [self.awake[0]] if self.awake else []
        named = [*self.running, *self.waiting, *self.kv_usage, *sizes, *gaps, *lora, *awake]
        return frozenset(_selector(name)[0] for name in named)


class Lora(msgspec.Struct, frozen=True, gc=False):
    """Adapters with work now. One that is not named has no activity; it may well be loaded."""

    running: frozenset[str]
    waiting: frozenset[str]


class Reading(msgspec.Struct, frozen=True, gc=False):
    """What one scrape says. None is unknown.

    `running` and `waiting` are requests over all ranks; `kv_usage` is 0..1 of the fullest rank, `kv_usage_mean` the mean
    over ranks; `gaps` are cumulative since the engine started; `asleep` is True when some rank sleeps.
    """

    running: float | None = None
    waiting: float | None = None
    kv_usage: float | None = None
    kv_usage_mean: float | None = None
    kv_capacity_tokens: int | None = None
    gaps: Buckets | None = None
    lora: Lora | None = None
    asleep: bool | None = None


NOTHING = Reading()
"""A scrape that failed."""


def read(samples: Sequence[Sample], dialect: Dialect) -> Reading:
    """Translate one scrape."""
    scrape = _by_name(samples)
    running = _per_part(scrape, dialect.running, dialect.parts)
    waiting = _per_part(scrape, dialect.waiting, dialect.parts)
    usage = [value for value in _per_part(scrape, dialect.kv_usage, dialect.parts) if value <= 1.0]
    return Reading(
        running=sum(running) if running else None,
        waiting=sum(waiting) if waiting else None,
        kv_usage=max(usage, default=None),
        kv_usage_mean=sum(usage) / len(usage) if usage else None,
        kv_capacity_tokens=_first(_capacity(scrape, where, dialect.parts) for where in dialect.capacity),
        gaps=_first(
            buckets(scrape.get(name, ()), name) for name in (f"{gap}_bucket" for gap in dialect.gaps)
        ),
        lora=_lora(scrape.get(dialect.lora, ())),
        asleep=_asleep(scrape, dialect.awake),
    )


Scrape = Mapping[str, Sequence[Sample]]


def _by_name(samples: Sequence[Sample]) -> Scrape:
    scrape: dict[str, list[Sample]] = {}
    for sample in samples:
        scrape.setdefault(sample.name, []).append(sample)
    return scrape


@functools.cache
def _selector(name: str) -> tuple[str, str | None, str | None]:
    found = _SELECTOR.fullmatch(name)
    assert found is not None, name
    return found["name"], found["label"], found["value"]


def _chosen(scrape: Scrape, selector: str) -> Sequence[Sample]:
    name, label, value = _selector(selector)
    series = scrape.get(name, ())
    return series if label is None else [each for each in series if each.labels.get(label) == value]


Part = tuple[str, ...]


def _part(sample: Sample, labels: tuple[str, ...]) -> Part:
    return tuple([sample.labels.get(label, "") for label in labels])


def _sane(value: float) -> bool:
    return math.isfinite(value) and value >= 0


def _by_part(scrape: Scrape, selector: str, labels: tuple[str, ...]) -> dict[Part, float]:
    # Tensor-parallel ranks and priorities repeat or split a part's own number, so that the largest is the whole.
    parts: dict[Part, float] = {}
    for sample in _chosen(scrape, selector):
        if _sane(sample.value):
            part = _part(sample, labels)
            parts[part] = max(sample.value, parts.get(part, 0.0))
    return parts


def _per_part(scrape: Scrape, names: tuple[str, ...], labels: tuple[str, ...]) -> list[float]:
    found = (_by_part(scrape, name, labels) for name in names)
    return next((list(parts.values()) for parts in found if parts), [])


def _capacity(scrape: Scrape, where: Capacity, labels: tuple[str, ...]) -> int | None:
    if where.info:
        rows = {
            _part(each, labels): [_number(each.labels.get(factor)) for factor in where.factors]
            for each in scrape.get(where.info, ())
        }
        sizes = [math.prod(row) for row in rows.values()]
    else:
        columns = [_by_part(scrape, name, labels) for name in where.factors]
        sizes = [math.prod(column.get(part, 0.0) for column in columns) for part in columns[0]]
    return int(sum(sizes)) or None


def _number(label: str | None) -> float:
    # vLLM writes "None" here until it has profiled its memory. No engine has a cache of size zero.
    return float(label) if label and label.isdecimal() else 0.0


def _lora(series: Sequence[Sample]) -> Lora | None:
    # The value is the moment of the last change; vLLM leaves every older combination standing.
    newest = max(series, key=lambda sample: sample.value, default=None)
    if newest is None:
        return None
    return Lora(
        running=_listed(newest.labels.get("running_lora_adapters", "")),
        waiting=_listed(newest.labels.get("waiting_lora_adapters", "")),
    )


def _asleep(scrape: Scrape, awake: tuple[str, str] | None) -> bool | None:
    if awake is None:
        return None
    name, state = awake
    values = [each.value for each in scrape.get(name, ()) if each.labels.get("sleep_state") == state]
    return min(values) == 0 if values else None


def _listed(label: str) -> frozenset[str]:
    return frozenset(name for name in (part.strip() for part in label.split(",")) if name)


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)
