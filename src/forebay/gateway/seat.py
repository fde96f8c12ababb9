"""A worker's place among the workers of one gateway."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from forebay.conductor.conductor import Conductor
from forebay.config.inbound import InboundLimits
from forebay.domain.load import Load
from forebay.runtime.front import Mind
from forebay.runtime.ledger import Ledger, OtherRows, OwnRow
from forebay.runtime.peered import Peered


@dataclass(frozen=True, slots=True)
class Seat:
    """Worker `worker` of `workers`, counted from 0, and the ledger that they share; one alone needs none."""

    worker: int = 0
    workers: int = 1
    ledger: Ledger | None = None

    @property
    def mark(self) -> str:
        """What tells ids of this worker from those of its peers; nothing for one alone."""
        return f"~w{self.worker}" if self.workers > 1 else ""

    def among_peers(self, mind: Mind, conductor: Conductor) -> tuple[Mind, Callable[[Load], None] | None]:
        """`mind`, which is `conductor` or drives it, with ears for its peers; and what tells them of a load."""
        if self.ledger is None:
            return mind, None
        return Peered(mind, conductor, OtherRows(self.ledger, self.worker)), OwnRow(
            self.ledger, self.worker
        ).write

    def part_of(self, inbound: InboundLimits) -> InboundLimits:
        """What a worker may take of the host's room: its part of all connections and of all bodies held, rounded up.

        The bound on one address stays whole: the kernel spreads a few connections unevenly, and none should be refused
        for that.
        """
        if self.workers == 1:
            return inbound
        return msgspec.structs.replace(
            inbound,
            max_connections=-(-inbound.max_connections // self.workers),
            max_buffered_bytes=-(-inbound.max_buffered_bytes // self.workers),
        )


ALONE = Seat()
