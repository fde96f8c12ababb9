"""One request to an engine: who hears of its reply, and the handle to steer it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from forebay.domain.outcome import FailureKind
from forebay.gateway.http1.message import HeaderList
from forebay.gateway.http1.writing import Data, write_together

if TYPE_CHECKING:
    import asyncio

    from forebay.gateway.http1.engine_connection import EngineConnection


class Sink(Protocol):
    """Hears of one call, from the event loop, and must not block. Exactly one of `on_end` and `on_lost`, and last."""

    def on_connecting(self) -> None:
        """A kept connection turned out to be closed: a fresh one is being opened, and `on_connected` will come again."""
        ...

    def on_connected(self) -> None:
        """The request is being written. With an idle connection at hand this comes before `send` returns."""
        ...

    def on_head(self, status: int, headers: HeaderList) -> None:
        """The reply's head. Interim ones (1xx) are swallowed."""
        ...

    def on_data(self, data: bytes) -> None:
        """Bytes of the body as they come, without their chunk framing; never empty."""
        ...

    def on_end(self) -> None:
        """The reply is whole; the connection is idle again, or closed."""
        ...

    def on_lost(self, kind: FailureKind, detail: str) -> None:
        """No (whole) reply: CONNECT, RESET or PROTOCOL. `detail` is for logs and holds nothing of the bodies."""
        ...


class Call:
    """Handle of one request. After its end, and after `close`, every method does nothing."""

    __slots__ = (
        "_body", "_head", "connecting", "connection", "done", "head_only", "paused", "resent", "sink", "url",
    )  # fmt: skip

    def __init__(self, url: str, head: bytes, body: Sequence[Data], sink: Sink) -> None:
        self.url = url
        self.sink = sink
        self.done = False
        self.resent = False
        self.paused = False  # the sink wants no more for now
        self.head_only = head.startswith(b"HEAD ")  # the reply has a head only, whatever lengths it announces
        self.connection: EngineConnection | None = None
        self.connecting: asyncio.Task[None] | None = None
        self._head = head
        self._body = body

    def pause(self) -> None:
        """Stop reading from the engine. What has been read already is still told."""
        if not self.paused and not self.done:
            self.paused = True
            if self.connection is not None:
                self.connection.pause()

    def resume(self) -> None:
        """Read on."""
        if self.paused and not self.done:
            self.paused = False
            if self.connection is not None:
                self.connection.resume()

    def close(self) -> None:
        """Cancel: the connection is cut off now, and the sink hears no more."""
        if self.done:
            return
        connection, connecting = self.connection, self.connecting
        self.finish()
        if connection is not None:
            connection.abandon()
        if connecting is not None:
            connecting.cancel()

    def write_to(self, transport: "asyncio.Transport") -> None:
        """Send the request, in one write."""
        write_together(transport, (self._head, *self._body))

    def answered(self) -> None:
        """A byte of the reply has come: the request will not be sent again, so its body need not be kept."""
        self._body = ()

    def finish(self) -> None:
        """The call is over."""
        self.done = True
        self.connection = self.connecting = None
        self._body = ()
