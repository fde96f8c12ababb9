"""Connections to engines: kept alive, last used first, one request at a time each."""

import asyncio
import math
from collections.abc import Sequence
from typing import Protocol, cast
from urllib.parse import urlsplit

from forebay.domain.outcome import FailureKind
from forebay.gateway.http1.head import HEAD_END, HeadError
from forebay.gateway.http1.message import HeaderList
from forebay.gateway.http1.reply_head import Framing, ReplyBody, framing_of, parse_reply_head

MAX_HEAD_BYTES = 64 * 1024
"""Of a reply's head, 1xx replies before it included; more is no reply of an engine."""
JOIN_BYTES = 16 * 1024
"""Below this, joining head and body is cheaper than handing two buffers to the kernel."""
SWEEP_SECONDS = 1.0

Buffers = Sequence[bytes | bytearray | memoryview]


class Sink(Protocol):
    """Hears of one request's reply. Exactly one of `on_end` and `on_lost` comes, and nothing after `Call.close`."""

    def on_connected(self) -> None:
        """The request's bytes are being written."""
        ...

    def on_head(self, status: int, headers: HeaderList) -> None:
        """The reply's head; 1xx are swallowed."""
        ...

    def on_data(self, data: bytes) -> None:
        """Body bytes, without their framing."""
        ...

    def on_end(self) -> None:
        """The reply is complete."""
        ...

    def on_lost(self, kind: FailureKind, detail: str) -> None:
        """CONNECT, RESET or PROTOCOL, with words for the log."""
        ...


class Call:
    """One request on its connection, or on its way to one."""

    __slots__ = ("_upstreams", "body", "connection", "head", "origin", "paused", "resent", "sink", "task")

    def __init__(self, upstreams: "Upstreams", origin: str, head: bytes, body: Buffers, sink: Sink) -> None:
        self._upstreams = upstreams
        self.origin = origin
        self.head = head
        self.body = body
        self.sink: Sink | None = sink
        self.connection: UpstreamConnection | None = None
        self.task: asyncio.Task[None] | None = None
        self.resent = False
        self.paused = False

    def pause(self) -> None:
        """Stop reading from the engine."""
        self.paused = True
        if self.connection is not None:
            self.connection.transport.pause_reading()

    def resume(self) -> None:
        """Go on reading."""
        self.paused = False
        if self.connection is not None:
            self.connection.transport.resume_reading()

    def close(self) -> None:
        """Give the request up: the connection is cut at once, and nothing more is told."""
        self.sink = None
        if self.task is not None:
            self.task.cancel()
        if self.connection is not None:
            self.connection.transport.abort()

    def lost(self, kind: FailureKind, detail: str) -> None:
        """Tell the sink, for the last time."""
        sink, self.sink = self.sink, None
        if sink is not None:
            sink.on_lost(kind, detail)


class UpstreamConnection(asyncio.Protocol):
    """One connection. Between requests it idles in its pool; bytes that come then make it unfit."""

    __slots__ = ("_body", "_call", "_head", "_reused", "_upstreams", "idle_since", "keep", "origin", "transport")

    def __init__(self, upstreams: "Upstreams", origin: str) -> None:
        self._upstreams = upstreams
        self.origin = origin
        self.transport: asyncio.Transport
        self.idle_since = math.inf
        self.keep = True
        self._reused = False
        self._call: Call | None = None
        self._head = b""
        self._body: ReplyBody | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Registered by the pool."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but its bases
        self._upstreams.opened(self)

    def carry(self, call: Call) -> None:
        """Send a request, and read its reply."""
        self._reused = self.idle_since != math.inf
        self.idle_since = math.inf
        self._call = call
        call.connection = self
        assert call.sink is not None
        call.sink.on_connected()
        if len(call.body) == 1 and len(call.body[0]) <= JOIN_BYTES:
            self.transport.write(b"".join((call.head, *call.body)))
        else:
            self.transport.writelines([call.head, *call.body])
        if call.paused:
            self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Bytes of the reply, or a breach of the protocol."""
        if self._call is None:
            self.transport.abort()
            return
        try:
            if self._body is None:
                self._take_head(data)
            else:
                self._take_body(data)
        except HeadError as fault:
            self._break(FailureKind.PROTOCOL, fault.message)

    def eof_received(self) -> None:
        """The engine closes: the end of a reply that lasts until then, or a reply cut short."""
        if self._body is not None and self._body.framing is Framing.UNTIL_CLOSE:
            self.keep = False
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """However it was lost: a request that had seen nothing of its reply may go out once more."""
        self._upstreams.closed(self)
        call, self._call = self._call, None
        if call is None or call.sink is None:
            return
        call.connection = None
        if self._reused and self._body is None and not self._head and not call.resent:
            call.resent = True
            self._upstreams.open(call)
        else:
            call.lost(FailureKind.RESET, f"the connection closed early: {exc or 'end of file'}")

    def _take_head(self, data: bytes) -> None:
        self._head += data
        while (end := self._head.find(HEAD_END)) >= 0:
            head, self._head = self._head[: end + 4], self._head[end + 4 :]
            status, headers, keep = parse_reply_head(head)
            if 100 <= status < 200:
                continue
            self.keep = keep
            self._body = framing_of(status, headers, head_only=self._asked_head())
            rest, self._head = self._head, b""
            assert self._call is not None
            assert self._call.sink is not None
            self._call.sink.on_head(status, headers)
            if self._call is not None and self._call.sink is not None:
                self._take_body(rest)
            return
        if len(self._head) > MAX_HEAD_BYTES:
            raise HeadError(502, "head-too-large", f"the reply's head is over {MAX_HEAD_BYTES} bytes")

    def _asked_head(self) -> bool:
        return self._call is not None and self._call.head.startswith(b"HEAD ")

    def _take_body(self, data: bytes) -> None:
        body, call = self._body, self._call
        assert body is not None
        assert call is not None
        payload = body.feed(data)
        if payload and call.sink is not None:
            call.sink.on_data(payload)
        if body.complete and self._call is not None and call.sink is not None:
            self.keep = self.keep and not body.rest
            self._finish()

    def _finish(self) -> None:
        call, self._call, self._body = self._call, None, None
        assert call is not None
        call.connection = None
        if call.paused:
            self.transport.resume_reading()
        # A reply that came before the request was all sent leaves the connection in the middle of it.
        if self.keep and not self.transport.get_write_buffer_size():
            self._upstreams.idle(self)
        else:
            self.transport.close()
        sink, call.sink = call.sink, None
        if sink is not None:
            sink.on_end()

    def _break(self, kind: FailureKind, detail: str) -> None:
        call, self._call = self._call, None
        self.transport.abort()
        if call is not None:
            call.connection = None
            call.lost(kind, detail)



class Upstreams:
    """Every connection to every engine."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        connect_timeout_seconds: float,
        idle_seconds: float = 60.0,
        max_idle_per_endpoint: int = 1024,
    ) -> None:
        """Idle connections are closed after `idle_seconds`; engines that close sooner are met by one resend."""
        self._loop = loop
        self._connect_timeout_seconds = connect_timeout_seconds
        self._idle_seconds = idle_seconds
        self._max_idle = max_idle_per_endpoint
        self._idle: dict[str, list[UpstreamConnection]] = {}
        self._open: set[UpstreamConnection] = set()
        self._sweep: asyncio.TimerHandle | None = None

    def send(self, url: str, head: bytes, body: Buffers, sink: Sink) -> Call:
        """Send a request to the engine at `url` (http://host:port), over an idle connection or a fresh one."""
        call = Call(self, url, head, body, sink)
        idle = self._idle.get(url)
        while idle:
            connection = idle.pop()
            if not connection.transport.is_closing():
                connection.carry(call)
                return call
        self.open(call)
        return call

    def close(self) -> None:
        """Cut every connection."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for connection in tuple(self._open):
            connection.transport.abort()

    # --- for connections and calls

    def open(self, call: Call) -> None:
        """Open a connection for `call`."""
        call.task = self._loop.create_task(self._connect(call))

    def opened(self, connection: UpstreamConnection) -> None:
        """A connection stands."""
        self._open.add(connection)

    def closed(self, connection: UpstreamConnection) -> None:
        """A connection is gone."""
        self._open.discard(connection)
        idle = self._idle.get(connection.origin)
        if idle and connection in idle:
            idle.remove(connection)

    def idle(self, connection: UpstreamConnection) -> None:
        """A connection has served its request, and may serve another."""
        pool = self._idle.setdefault(connection.origin, [])
        if len(pool) >= self._max_idle:
            connection.transport.close()
            return
        connection.idle_since = self._loop.time()
        pool.append(connection)
        if self._sweep is None:
            self._sweep = self._loop.call_later(SWEEP_SECONDS, self._swept)

    async def _connect(self, call: Call) -> None:
        try:
            async with asyncio.timeout(self._connect_timeout_seconds):
                connection = await self._open_connection(call.origin)
        except TimeoutError:
            call.lost(FailureKind.CONNECT, f"no connection within {self._connect_timeout_seconds:g} s")
        except OSError as fault:
            call.lost(FailureKind.CONNECT, f"no connection: {fault}")
        else:
            call.task = None
            if call.sink is None:
                connection.transport.abort()
            else:
                connection.carry(call)

    async def _open_connection(self, origin: str) -> UpstreamConnection:
        parts = urlsplit(origin)
        _, connection = await self._loop.create_connection(
            lambda: UpstreamConnection(self, origin), parts.hostname or "", parts.port or 80
        )
        return connection

    def _swept(self) -> None:
        """Close what has idled too long; the oldest stand first."""
        limit = self._loop.time() - self._idle_seconds
        for pool in self._idle.values():
            while pool and pool[0].idle_since < limit:
                pool.pop(0).transport.close()
        waiting = any(self._idle.values())
        self._sweep = self._loop.call_later(SWEEP_SECONDS, self._swept) if waiting else None
