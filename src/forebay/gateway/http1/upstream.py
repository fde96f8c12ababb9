"""Kept-alive connections to engines: handed out last in, first out, so that the fewest stay open."""

import asyncio
from collections.abc import Mapping, Sequence

from forebay.domain.outcome import FailureKind
from forebay.gateway.http1.call import Call, Sink
from forebay.gateway.http1.dialling import Tls, Ways, address, host_of_url, open_connection
from forebay.gateway.http1.engine_connection import EngineConnection
from forebay.gateway.http1.writing import Data

__all__ = ["Call", "Sink", "Tls", "Upstreams", "address"]


class Upstreams:
    """The connections of one process to all of its endpoints."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        connect_timeout_seconds: float,
        idle_seconds: float = 4.0,
        max_idle_per_endpoint: int = 1024,
    ) -> None:
        """`idle_seconds` should be under the engines' own limit (uvicorn, and so vLLM: 5 s), so that we close first."""
        self._loop = loop
        self.connect_timeout_seconds = connect_timeout_seconds
        self._idle_seconds = idle_seconds
        self._max_idle_per_endpoint = max_idle_per_endpoint
        self._most_idle: dict[str, int] = {}  # where an endpoint wants fewer
        self._ways = Ways()
        self._idle: dict[str, list[EngineConnection]] = {}
        self._open_connections: set[EngineConnection] = set()
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweep_timer: asyncio.TimerHandle | None = None

    def send(self, url: str, head: bytes, body: Sequence[Data], sink: Sink) -> Call:
        """Send a request to the endpoint with this base URL. A failure is never told before this returns.

        The body must stay unchanged until the call ends: it may be sent a second time, when a kept connection turns out to
        have been closed by the engine before any byte of a reply came.
        """
        call = Call(url, head, body, sink)
        connection = self._take_idle(url)
        if connection is None:
            self._open(call)
        else:
            connection.begin(call, reused=True)
        return call

    def keep_at_most(self, url: str, count: int) -> None:
        """Keep no more than `count` idle connections to this endpoint."""
        self._most_idle[url] = count

    def secure(self, tls: Mapping[str, Tls]) -> None:
        """Talk TLS to these endpoints, by their URLs, and to no others, from the next connection on."""
        self._ways.tls = tls

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """The name `host` stands for these now. What is open to another is not kept beyond its request."""
        self._ways.addresses[host] = addresses
        for connection in tuple(self._open_connections):
            if host_of_url(connection.url) == host and connection.peer not in addresses:
                connection.retire()

    def idle_connections(self, url: str) -> int:
        """How many connections to this endpoint are kept idle."""
        return len(self._idle.get(url, ()))

    def close(self) -> None:
        """Cut every connection. Calls that run end by `on_lost`; those still connecting hear no more."""
        self._closed = True
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        for task in tuple(self._tasks):
            task.cancel()
        for connection in tuple(self._open_connections):
            connection.transport.abort()

    # --- what connections ask of their home -------------------------------------------------------------------------

    def opened(self, connection: EngineConnection) -> None:
        """It stands."""
        self._open_connections.add(connection)
        if not self._ways.leads_to(connection.url, connection.peer):
            connection.retire()  # its name has moved while it was being opened

    def closed(self, connection: EngineConnection) -> None:
        """It is gone."""
        self._open_connections.discard(connection)
        self.forget(connection)

    def take_back(self, connection: EngineConnection) -> bool:
        """Keep it as idle; False if enough are."""
        kept = self._idle.setdefault(connection.url, [])
        if (
            len(kept) >= self._most_idle.get(connection.url, self._max_idle_per_endpoint)
            or self._closed
            or connection.retired
            or connection.transport.is_closing()
        ):
            return False
        connection.idle_since = self._loop.time()
        kept.append(connection)
        if self._sweep_timer is None:
            self._sweep_timer = self._loop.call_later(self._idle_seconds, self._sweep)
        return True

    def forget(self, connection: EngineConnection) -> None:
        """Do not hand it out again."""
        kept = self._idle.get(connection.url)
        if kept and connection in kept:
            kept.remove(connection)

    def resend(self, call: Call) -> bool:
        """Send again, on a fresh connection: the other idle ones may be as stale. False if all is being closed."""
        if not self._closed:
            call.sink.on_connecting()
            self._open(call)
        return not self._closed

    # --- inside -----------------------------------------------------------------------------------------------------

    def _take_idle(self, url: str) -> EngineConnection | None:
        kept = self._idle.get(url)
        oldest = self._loop.time() - self._idle_seconds
        while kept:
            connection = kept.pop()
            if connection.idle_since > oldest and not connection.transport.is_closing():
                return connection
            connection.abandon()
        return None

    def _open(self, call: Call) -> None:
        task = self._loop.create_task(self._connect(call))
        call.connecting = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, call: Call) -> None:
        try:
            async with asyncio.timeout(self.connect_timeout_seconds):
                connection = await open_connection(
                    self._loop, call.url, lambda: EngineConnection(self, call.url), self._ways
                )
        except TimeoutError:
            self._unreachable(call, f"no connection within {self.connect_timeout_seconds:g} s")
        except (OSError, ValueError) as error:
            self._unreachable(call, str(error))
        else:
            call.connecting = None
            if call.done:
                connection.abandon()
            else:
                connection.begin(call, reused=False)

    def _unreachable(self, call: Call, detail: str) -> None:
        if not call.done:
            sink = call.sink
            call.finish()
            sink.on_lost(FailureKind.CONNECT, detail)

    def _sweep(self) -> None:
        """Close what has been idle for too long; the oldest are at the front of each list."""
        self._sweep_timer = None
        oldest = self._loop.time() - self._idle_seconds
        for url, kept in tuple(self._idle.items()):
            while kept and kept[0].idle_since <= oldest:
                kept[0].abandon()
            if not kept:
                del self._idle[url]
        if self._idle:
            self._sweep_timer = self._loop.call_later(self._idle_seconds / 2, self._sweep)
