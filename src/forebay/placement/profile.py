"""A profile: filters, weighted scorers and one picker, and how they are run over a pool of any size."""

import math
import random
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from forebay.domain.facts import Ask, Facts, PoolFacts, Quantity
from forebay.domain.placement import FilterTrace, Placement, ScorerTrace
from forebay.placement.protocols import Filter, Picker, Scorer
from forebay.placement.scales import Scale, as_is


class ScoreError(ValueError):
    """A scorer gave a number that is not finite. The message names the scorer, the endpoint's slot and the number."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """A scorer, its weight in the total, and the scale that its raw scores are put on first."""

    scorer: Scorer
    weight: float
    scale: Scale = as_is


@dataclass(frozen=True, slots=True)
class Profile:
    """A placement policy. Raises ValueError at once when its scorers and its picker disagree on which end wins."""

    name: str
    filters: tuple[Filter, ...]
    scorers: tuple[Weighted, ...]
    picker: Picker

    def __post_init__(self) -> None:
        for weighted in self.scorers:
            if weighted.scorer.least_wins is not self.picker.least_wins:
                raise ValueError(
                    f"profile {self.name}: scorer {weighted.scorer.name} and the picker disagree on which end wins"
                )

    def place(self, ask: Ask, pool: PoolFacts, rng: random.Random) -> Placement:
        """Choose an endpoint for `ask`. With none left, the placement's `slot` is None and its filters tell why.

        Raises ScoreError when a scorer's number is not finite.
        """
        if pool.columns is not None:
            return _place_columns(self, ask, pool.columns, rng)
        return _place_rows(self, ask, pool.rows, rng)


def emptied_by(placement: Placement) -> str:
    """Name of the filter that dropped the last candidates; empty if some are left, or there were none to begin with."""
    if placement.slot is not None or not placement.filters:
        return ""
    return placement.filters[-1].name


def _place_rows(profile: Profile, ask: Ask, rows: Any, rng: random.Random) -> Placement:
    kept = list(rows)
    filters = []
    for each in profile.filters:
        keep = each.keep
        passed = [e for e in kept if keep(ask, e)]
        if len(passed) != len(kept):
            filters.append(FilterTrace(each.name, tuple(e.slot for e in kept if not keep(ask, e))))
            kept = passed
    slots = [e.slot for e in kept]
    if not slots:
        return Placement(None, profile.name, filters=tuple(filters), least_wins=profile.picker.least_wins)
    totals = [0.0] * len(slots)
    scorers = []
    for weighted in profile.scorers:
        scorer, weight = weighted.scorer, weighted.weight
        score, unknown = scorer.score, scorer.unknown
        values = weighted.scale([score(ask, e) for e in kept])
        totals = [total + weight * value for total, value in zip(totals, values, strict=True)]
        unsure = tuple(e.slot for e in kept if unknown(ask, e))
        scorers.append(ScorerTrace(scorer.name, weight, scorer.unit, values, unsure))
    if not all(map(math.isfinite, totals)):
        raise _not_finite(slots, scorers)
    return _placement(profile, slots, filters, scorers, totals, rng)


def _place_columns(profile: Profile, ask: Ask, columns: Facts, rng: random.Random) -> Placement:
    mask = np.ones(len(columns.slot), dtype=bool)
    filters = []
    for each in profile.filters:
        passed = mask & (each.keep(ask, columns) != 0)
        if (dropped := mask & ~passed).any():
            filters.append(FilterTrace(each.name, tuple(columns.slot[dropped].tolist())))
            mask = passed
    kept = columns if mask.all() else cast("Facts", Taken(columns, np.flatnonzero(mask)))
    slots = kept.slot
    if not len(slots):
        return Placement(None, profile.name, filters=tuple(filters), least_wins=profile.picker.least_wins)
    totals = np.zeros(len(slots))
    scorers = []
    for weighted in profile.scorers:
        scorer, weight = weighted.scorer, weighted.weight
        values = weighted.scale(_spread(scorer.score(ask, kept), len(slots)))
        totals = totals + weight * values
        unsure = slots[_spread(scorer.unknown(ask, kept), len(slots)) != 0]
        scorers.append(ScorerTrace(scorer.name, weight, scorer.unit, values, unsure))
    if not np.isfinite(totals).all():
        raise _not_finite(slots.tolist(), scorers)
    return _placement(profile, slots, filters, scorers, totals, rng)


class Taken:
    """Facts of the endpoints at `index` only; each column is taken when first asked for."""

    def __init__(self, columns: Facts, index: Quantity) -> None:
        self._columns = columns
        self._index = index

    def __getattr__(self, name: str) -> Quantity:
        column = getattr(self._columns, name)[self._index]
        setattr(self, name, column)
        return column


def _spread(value: Quantity, length: int) -> Quantity:
    """An array of its own, of `length`: a score may be one number for all, or a column that will change later."""
    return np.array(np.broadcast_to(value, length))


def _placement(
    profile: Profile,
    slots: Any,
    filters: list[FilterTrace],
    scorers: list[ScorerTrace],
    totals: Any,
    rng: random.Random,
) -> Placement:
    chosen = profile.picker.pick(totals, rng)
    return Placement(
        slot=int(slots[chosen]),
        profile=profile.name,
        candidates=slots,
        filters=tuple(filters),
        scorers=tuple(scorers),
        totals=totals,
        least_wins=profile.picker.least_wins,
    )


def _not_finite(slots: list[int], scorers: list[ScorerTrace]) -> ScoreError:
    for trace in scorers:
        for slot, value in zip(slots, trace.values, strict=True):
            if not math.isfinite(value):
                return ScoreError(
                    f"scorer {trace.name}: {value} for slot {slot} is not a finite number of {trace.unit}"
                )
    return ScoreError("the weighted scores are finite but their sum is not: a weight is too large")
