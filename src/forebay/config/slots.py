"""Which slot of the tables belongs to which endpoint, from one plan to the next."""

from collections.abc import Collection, Iterable
from typing import Self

import msgspec

MAX_SLOTS = 16_384
"""Slots that workers can tell each other of: a row of their ledger is that long."""


class Lease(msgspec.Struct, frozen=True):
    """A slot in the hands of one endpoint: a pool's replica at an address.

    `generation` counts the endpoints that have had the slot, from 1; whoever keeps figures by slot outside of this
    process can tell by it that they are another's.
    """

    pool: str
    url: str
    slot: int
    generation: int


class SlotBook:
    """Slots by endpoint. An endpoint keeps its slot through every plan that names it, in whatever order.

    The slot of one that is no longer named is given to nobody until `released` has been told that nothing lives there.
    The same replica in another pool is another endpoint: what is believed of it is kept by pool.
    """

    def __init__(self, leases: Iterable[Lease] = (), generations: Iterable[tuple[int, int]] = ()) -> None:
        """`generations` are (slot, generation) of slots that were used before and are free."""
        self._leases = {(lease.pool, lease.url): lease for lease in leases}
        self._generations = dict(generations)
        self._taken = {lease.slot for lease in self._leases.values()}
        self._lowest = 0  # below it all are taken

    @property
    def leases(self) -> tuple[Lease, ...]:
        """Every lease: plain values, from which another process makes the same book."""
        return tuple(self._leases.values())

    def copy(self) -> Self:
        """A book to try a plan with: when the plan is refused, nothing was given away."""
        return type(self)(self._leases.values(), self._generations.items())

    def lease(self, pool: str, url: str) -> Lease:
        """The endpoint's lease. One that has none is given the lowest slot that is free."""
        key = (pool, url)
        if key not in self._leases:
            slot = self._take_lowest()
            self._leases[key] = Lease(pool, url, slot, self._generations.pop(slot, 0) + 1)
        return self._leases[key]

    def released(self, living: Collection[int]) -> Self:
        """The book without the leases of slots that are not `living`: named by no plan in force, and empty."""
        gone = [lease for lease in self._leases.values() if lease.slot not in living]
        free = self._generations | {lease.slot: lease.generation for lease in gone}
        return type(self)((lease for lease in self._leases.values() if lease.slot in living), free.items())

    def _take_lowest(self) -> int:
        while self._lowest in self._taken:
            self._lowest += 1
        self._taken.add(self._lowest)
        return self._lowest
