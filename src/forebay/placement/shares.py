"""A placement for people: plain lists, and each term as a share of its endpoint's total."""

import msgspec

from forebay.domain.facts import Quantity
from forebay.domain.placement import Placement


def shares(placement: Placement) -> dict[str, list[float]]:
    """Each scorer's part of each candidate's total, 0..1, in the order of the candidates; all 0 for a total of 0.

    The scores of every profile in the catalogue are >= 0, so that the parts of one endpoint sum to 1.
    """
    totals = _listed(placement.totals)
    return {
        trace.name: [
            trace.weight * value / total if total else 0.0
            for value, total in zip(_listed(trace.values), totals, strict=True)
        ]
        for trace in placement.scorers
    }


def listed(placement: Placement) -> Placement:
    """The same placement with lists of plain numbers in place of arrays, fit for JSON."""
    scorers = tuple(
        msgspec.structs.replace(trace, values=_listed(trace.values), unknown=tuple(_listed(trace.unknown)))
        for trace in placement.scorers
    )
    return msgspec.structs.replace(
        placement, candidates=_listed(placement.candidates), totals=_listed(placement.totals), scorers=scorers
    )


def _listed(values: Quantity) -> list[float]:
    plain: list[float] = values.tolist() if hasattr(values, "tolist") else list(values)
    return plain
