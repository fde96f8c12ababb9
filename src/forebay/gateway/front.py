"""The gateway as a front: carries out the conductor's commands on exchanges, and keeps their clocks."""

import asyncio
import logging
from collections.abc import Callable

from forebay.conductor.commands import Abort, Dispatch, Hold, Reject
from forebay.config.settings import Timeouts
from forebay.gateway.exchange import Exchange
from forebay.gateway.http1.budget import BufferBudget
from forebay.gateway.http1.upstream import Upstreams
from forebay.gateway.pools import PoolDirectory
from forebay.runtime.driver import Driver
from forebay.telemetry.observer import Passage

log = logging.getLogger(__name__)

# Timeouts are looked for this often, so they end up to this much late. One pass costs about 0.3 us an open request.
SWEEP_SECONDS = 0.25


class Gateway:
    """Every exchange that is open, by request id, and what they share."""

    def __init__(
        self,
        driver: Driver,
        upstreams: Upstreams,
        directory: PoolDirectory,
        loop: asyncio.AbstractEventLoop,
        served: Callable[[Passage], None],
        gaps: Callable[[str], Callable[[int], None]],
        budget: BufferBudget,
    ) -> None:
        """Attaches itself to `driver`.

        `served` hears of each request once, when its reply is over; `gaps` gives, for a model, what hears of each gap
        between its tokens, in microseconds. `budget` is the room for all that the process holds.
        """
        self.budget = budget
        self.gaps = gaps
        self.driver = driver
        self.upstreams = upstreams
        self.directory = directory
        self.served = served
        self.clock: Callable[[], int] = driver.clock
        self.exchanges: dict[str, Exchange] = {}
        self._loop = loop
        self._sweep: asyncio.TimerHandle | None = None
        driver.attach(self)

    # --- commands

    def dispatch(self, command: Dispatch) -> None:
        """Send the attempt to its endpoint."""
        self.exchanges[command.attempt.request_id].dispatch(command)

    def hold(self, command: Hold) -> None:
        """Nothing to do: the exchange waits, and its client is watched all the same."""

    def reject(self, command: Reject) -> None:
        """Answer the client for the last time."""
        self.exchanges[command.request_id].reject(command)

    def abort(self, command: Abort) -> None:
        """Close the attempt's connection."""
        exchange = self.exchanges.get(command.attempt.request_id)
        if exchange is not None:
            exchange.abort()

    # --- clocks

    def start(self) -> None:
        """Begin to watch timeouts."""
        self._sweep = self._loop.call_later(SWEEP_SECONDS, self._swept)

    def stop(self) -> None:
        """End the watch; what is still open is broken off."""
        if self._sweep is not None:
            self._sweep.cancel()
        # Those that are held first: else the room that the others leave would be given to them.
        for exchange in sorted(self.exchanges.values(), key=lambda exchange: exchange.call is not None):
            exchange.break_off()
        self.upstreams.close()

    def sweep(self) -> None:
        """End attempts that are past a deadline, and tell the conductor how streams go on."""
        at = self.clock()
        for exchange in tuple(self.exchanges.values()):
            try:
                exchange.check(at)
            except Exception:
                log.exception("a request could not be checked")

    def clocks(self, name: str) -> tuple[Timeouts, float]:
        """The four clocks of the pool that serves `name`, and after how much silence its clients get a sign of life."""
        pool = self.directory.find(name)
        return (pool.timeouts, pool.heartbeat_seconds) if pool else (Timeouts(), 0.0)

    def _swept(self) -> None:
        try:
            self.sweep()
        finally:
            self._sweep = self._loop.call_later(SWEEP_SECONDS, self._swept)
