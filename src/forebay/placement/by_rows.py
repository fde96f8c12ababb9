"""Filters and scorers run over rows, one endpoint at a time: fastest for small pools."""

import math
import operator
from collections.abc import Sequence

from forebay.domain.facts import Ask, Facts
from forebay.domain.placement import FilterTrace, ScorerTrace
from forebay.placement.protocols import Filter
from forebay.placement.weighted import Weighted, not_finite


def sift(
    filters: Sequence[Filter], ask: Ask, rows: Sequence[Facts]
) -> tuple[Sequence[Facts], list[FilterTrace]]:
    """The rows that every filter keeps, and what each filter that dropped any has dropped."""
    traces: list[FilterTrace] = []
    for each in filters:
        keep = each.keep
        kept = [e for e in rows if keep(ask, e)]
        if len(kept) < len(rows):
            left = {e.slot for e in kept}
            traces.append(FilterTrace(each.name, tuple([e.slot for e in rows if e.slot not in left])))
            rows = kept
    return rows, traces


def weigh(
    scorers: Sequence[Weighted], ask: Ask, rows: Sequence[Facts]
) -> tuple[list[int], list[float], list[ScorerTrace]]:
    """Slots of the rows, their weighted totals, and what each scorer said. Raises ScoreError."""
    slots = [e.slot for e in rows]
    totals: list[float] = []
    traces = []
    for weighted in scorers:
        score, weight, unsure = weighted.scorer.score, weighted.weight, weighted.unsure
        values = weighted.scale([score(ask, e) for e in rows], ask)
        parts = [weight * value for value in values]
        totals = list(map(operator.add, totals, parts)) if totals else parts
        unknown = [e.slot for e in rows if unsure.unknown(ask, e)] if unsure else ()
        traces.append(weighted.trace(values, unknown))
    if not all(map(math.isfinite, totals)):
        raise not_finite(slots, traces)
    return slots, totals, traces
