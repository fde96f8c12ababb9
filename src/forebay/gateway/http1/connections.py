"""All client connections of one listener: who may connect, who has taken too long, and how they end."""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from forebay.gateway.http1.budget import BufferBudget
from forebay.gateway.http1.known_heads import KnownHeads
from forebay.gateway.http1.limits import InboundLimits
from forebay.gateway.http1.message import Handler

if TYPE_CHECKING:
    from forebay.gateway.http1.inbound import ServerProtocol

RECEIVE_BYTES = 64 * 1024
"""Size of the one buffer that heads and chunked bodies of all connections are received into. The loop reads and hands over
in one step, so connections can share it, and an idle one costs no buffer."""
REFUSAL_ROOM = 256
"""So many connections over the cap are told 503 at a time; more are cut off without a word, to spare descriptors."""


class Connections:
    """The open connections of one listener; hand `protocol` to `loop.create_server`."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, handler: Handler, limits: InboundLimits, budget: BufferBudget
    ) -> None:
        """`budget` is shared by everything in the process that holds bodies."""
        self.loop = loop
        self.handler = handler
        self.limits = limits
        self.heads = KnownHeads(limits)
        self.budget = budget
        self.draining = False
        self.receive_view = memoryview(bytearray(RECEIVE_BYTES))
        self._open: set[ServerProtocol] = set()
        self._by_address: Counter[str] = Counter()
        self._sweep_timer: asyncio.TimerHandle | None = None

    def adopt(self, limits: InboundLimits) -> None:
        """Hold connections to these from now on, those that are open too."""
        if limits != self.limits:
            self.limits = limits
            self.heads = KnownHeads(limits)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def busy(self) -> int:
        """Connections with a request that is not yet answered in full."""
        return sum(connection.busy for connection in self._open)

    def protocol(self) -> "ServerProtocol":
        """A protocol for a new connection."""
        from forebay.gateway.http1.inbound import ServerProtocol

        return ServerProtocol(self)

    def add(self, connection: "ServerProtocol") -> str | None:
        """Register a connection; the text says why it must be refused, None that it is welcome."""
        self._open.add(connection)
        self._by_address[connection.peer] += 1
        if self._sweep_timer is None:
            self._sweep_timer = self.loop.call_later(self.limits.sweep_seconds, self._sweep)
        if len(self._open) > self.limits.max_connections:
            return "Too many connections are open."
        if self._by_address[connection.peer] > self.limits.max_connections_per_address:
            return "Too many connections from this address are open."
        return None

    def remove(self, connection: "ServerProtocol") -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self._by_address[connection.peer] -= 1
        if not self._by_address[connection.peer]:
            del self._by_address[connection.peer]

    @property
    def crowded_out(self) -> bool:
        """So many are over the cap that there is no room even for refusals."""
        return len(self._open) > self.limits.max_connections + REFUSAL_ROOM

    def close_idle(self) -> None:
        """Close the connections that wait for a request; for a shutdown, after `draining` has been set."""
        for connection in tuple(self._open):
            connection.close_if_idle()

    def abort_all(self) -> None:
        """Cut off every connection. Their requests end by `on_gone`."""
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for connection in tuple(self._open):
            connection.abort()

    def _sweep(self) -> None:
        """End what has passed its deadline. One timer for all: a timer for each state of each request would cost more."""
        self._sweep_timer = None
        now = self.loop.time()
        for connection in tuple(self._open):
            if connection.deadline <= now:
                connection.expire(now)
        if self._open:
            self._sweep_timer = self.loop.call_later(self.limits.sweep_seconds, self._sweep)
