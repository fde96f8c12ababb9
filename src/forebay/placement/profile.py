"""A profile: filters, weighted scorers and one picker."""

import random
from dataclasses import dataclass, field

from forebay.domain.facts import Ask, PoolFacts, Quantity
from forebay.domain.placement import FilterTrace, Placement, ScorerTrace
from forebay.placement import by_columns, by_rows
from forebay.placement.patience import Patience
from forebay.placement.protocols import Filter, Picker
from forebay.placement.sieve import Sieve
from forebay.placement.weighted import Weighted


@dataclass(frozen=True, slots=True)
class Profile:
    """A placement policy. Raises ValueError at once when a scorer and the picker disagree on which end wins."""

    name: str
    filters: tuple[Filter, ...]
    scorers: tuple[Weighted, ...]
    picker: Picker
    patience: Patience | None = None
    sieve: Sieve = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sieve", Sieve(self.filters))
        for weighted in self.scorers:
            if weighted.scorer.least_wins is not self.picker.least_wins:
                raise ValueError(
                    f"profile {self.name}: scorer {weighted.scorer.name} and the picker disagree on which end wins"
                )

    def holds(self, ask: Ask, placement: Placement) -> bool:
        """Whether `ask`, for which that place was found, had better wait for another moment."""
        return self.patience is not None and self.patience.holds(ask, placement)

    def place(self, ask: Ask, pool: PoolFacts, rng: random.Random) -> Placement:
        """Choose an endpoint for `ask`. With none left, the placement's `slot` is None and its filters tell why.

        Raises ScoreError when a scorer's number is not finite.
        """
        filters = self.sieve.needed(ask, pool)
        columns = pool.columns
        if columns is None:
            rows, dropped = by_rows.sift(filters, ask, pool.rows)
            return self._pick(*by_rows.weigh(self.scorers, ask, rows), dropped, rng)
        columns, dropped = by_columns.sift(filters, ask, columns)
        return self._pick(*by_columns.weigh(self.scorers, ask, columns), dropped, rng)

    def _pick(
        self,
        slots: Quantity,
        totals: Quantity,
        scorers: list[ScorerTrace],
        filters: list[FilterTrace],
        rng: random.Random,
    ) -> Placement:
        return Placement(
            int(slots[self.picker.pick(totals, rng)]) if len(slots) else None,
            self.name,
            slots,
            tuple(filters),
            tuple(scorers),
            totals,
            self.picker.least_wins,
        )


def emptied_by(placement: Placement) -> str:
    """Name of the filter that dropped the last candidates; empty if some are left, or there were none to begin with."""
    if placement.slot is not None or not placement.filters:
        return ""
    return placement.filters[-1].name
