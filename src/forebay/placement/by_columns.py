"""Filters and scorers run once over columns, all endpoints together: fastest for large pools."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.domain.placement import FilterTrace, ScorerTrace
from forebay.placement.protocols import Filter
from forebay.placement.weighted import Weighted, not_finite


class Taken:
    """The facts of the endpoints at `index` only; each column is taken when it is first asked for."""

    def __init__(self, columns: Facts, index: Quantity) -> None:
        self._columns = columns
        self._index = index

    def __getattr__(self, name: str) -> Quantity:
        column = getattr(self._columns, name)[self._index]
        setattr(self, name, column)
        return column


def sift(filters: Sequence[Filter], ask: Ask, columns: Facts) -> tuple[Facts, list[FilterTrace]]:
    """The endpoints that every filter keeps, and what each filter that dropped any has dropped."""
    left = np.ones(len(columns.slot), dtype=bool)
    traces: list[FilterTrace] = []
    for each in filters:
        kept = left & each.keep(ask, columns)
        dropped = left & ~kept
        if dropped.any():
            traces.append(FilterTrace(each.name, tuple(columns.slot[dropped].tolist())))
            left = kept
    return (cast("Facts", Taken(columns, np.flatnonzero(left))) if traces else columns), traces


def weigh(
    scorers: Sequence[Weighted], ask: Ask, columns: Facts
) -> tuple[Quantity, Quantity, list[ScorerTrace]]:
    """Slots of the endpoints, their weighted totals, and what each scorer said. Raises ScoreError."""
    slots = columns.slot
    totals = np.zeros(len(slots))
    traces = []
    for weighted in scorers:
        values = weighted.scale(_spread(weighted.scorer.score(ask, columns), len(slots)), ask)
        totals += weighted.weight * values
        unknown = slots[weighted.unsure.unknown(ask, columns)].tolist() if weighted.unsure else ()
        traces.append(weighted.trace(values, unknown))
    if not np.isfinite(totals).all():
        raise not_finite(slots.tolist(), traces)
    return slots, totals, traces


def _spread(score: Quantity, length: int) -> Quantity:
    """An array of its own, for the trace: a score may be one number for all, or a column that will change later."""
    return np.array(np.broadcast_to(score, length))
