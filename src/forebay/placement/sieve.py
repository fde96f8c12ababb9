"""Which filters have to be asked at all."""

from collections.abc import Hashable, Sequence

import numpy as np

from forebay.domain.facts import Ask, PoolFacts
from forebay.placement.protocols import Filter


class Sieve:
    """The filters of one profile, in their order.

    Most requests find every endpoint sound, able and untried. Which filters of the standing kind would drop nothing is
    found out once for each set of needs and of slots asked for or tried, and kept for as long as no endpoint's standing changes.
    """

    def __init__(self, filters: Sequence[Filter]) -> None:
        self._filters = filters
        self._standing: object = None
        self._needed: dict[Hashable, tuple[Filter, ...]] = {}

    def needed(self, ask: Ask, pool: PoolFacts) -> Sequence[Filter]:
        """Those that may drop an endpoint, in their order: all but the standing ones that keep every one."""
        if pool.standing is not self._standing:
            self._standing = pool.standing
            self._needed = {}
        asked = (ask.needs, ask.only_slot, ask.adapter_slots, ask.tried)
        needed = self._needed.get(asked)
        if needed is None:
            needed = tuple(
                each for each in self._filters if not (each.standing and _keeps_all(each, ask, pool))
            )
            self._needed[asked] = needed
        return needed


def _keeps_all(each: Filter, ask: Ask, pool: PoolFacts) -> bool:
    if pool.columns is not None:
        return bool(np.all(each.keep(ask, pool.columns)))
    return all(each.keep(ask, e) for e in pool.rows)
