"""The answer to one request: framing, keep-alive and back-pressure towards one client."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Protocol

from forebay.gateway.http1.writing import JOIN_BYTES, Data, write_together

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
_NO_BODY = frozenset({204, 304})


class Line(Protocol):
    """What a reply needs of the connection that carries it."""

    transport: asyncio.Transport
    writable: bool

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Call back in the loop's next turn."""
        ...

    def may_keep_alive(self) -> bool:
        """Whether this connection can serve another request after the reply that starts now."""
        ...

    def reply_finished(self, *, keep_alive: bool) -> None:
        """The last byte of the reply has been handed to the transport."""
        ...

    def hold(self, nbytes: int) -> None:
        """So much more is held of the request's body."""
        ...

    def release_body(self) -> None:
        """The request's body is no longer held."""
        ...

    def reply_aborted(self, *, reset: bool) -> None:
        """The reply was given up: close the connection; with `reset`, so that the client cannot take it for an end."""
        ...


class ReplyWriter:
    """Bound to one request. Calls after `finished` do nothing: the client left, or the floor answered in its place."""

    __slots__ = (
        "_chunked",
        "_head_only",
        "_held",
        "_http10",
        "_keep_alive",
        "_left",
        "_line",
        "_silent",
        "finished",
        "on_writable",
        "owner",
        "started",
    )

    def __init__(self, line: Line, *, head_only: bool, http10: bool) -> None:
        """`head_only` for HEAD requests, `http10` for clients that do not know chunks."""
        self._line = line
        self._head_only = head_only
        self._http10 = http10
        self._chunked = False
        self._held = b""  # the head, until the first of the body comes or the loop's turn ends
        self._keep_alive = True
        self._left: int | None = None  # body bytes still owed to the announced length
        self._silent = False  # the message has no body, whatever is written
        self.started = False
        self.finished = False
        self.on_writable: Callable[[bool], None] | None = None
        self.owner: object = None  # the handler's own: what it wants to find again in `on_gone`

    @property
    def writable(self) -> bool:
        """False while more waits for the client than the transport's high-water mark (64 KiB)."""
        return self._line.writable

    def start(self, status: int, headers: list[tuple[bytes, bytes]], length: int | None) -> None:
        """Begin the reply. `length` in bytes; None means not known: chunks, or until the connection closes for HTTP/1.0.

        The head goes out with the first of the body if that is written at once, else in the loop's next turn (uvloop writes
        at every call). `headers` must not name content-length, transfer-encoding or connection: those are decided here.
        """
        if not self.finished:
            self._held = self._head(status, headers, length)
            self._line.call_soon(self._flush)

    def write(self, data: Data) -> None:
        """Send body bytes, framed, in one write (so that one event leaves whole). A view must stay unchanged until it is sent."""
        size = len(data)
        if self.finished or self._silent or not size:
            return
        if self._left is not None:
            self._left -= size
        if not self._chunked:
            self._send(data)
        elif size >= JOIN_BYTES or self._held:
            self._send(b"%x\r\n" % size, data, b"\r\n")
        else:
            # The event of a stream: the same, in one step.
            self._line.transport.write(b"".join((b"%x\r\n" % size, data, b"\r\n")))

    def end(self) -> None:
        """Finish the message. A body that differs from its announced length breaks the connection: the client must notice."""
        if self.finished:
            return
        if self._left and not self._silent:
            self.abort()
            return
        if self._chunked:
            self._send(b"0\r\n\r\n")
        else:
            self._flush()
        self._finish()

    def respond(self, status: int, headers: list[tuple[bytes, bytes]], body: Data) -> None:
        """A whole reply in one write."""
        if self.finished:
            return
        head = self._head(status, headers, len(body))
        write_together(self._line.transport, (head,) if self._silent else (head, body))
        self._finish()

    def hold(self, size: int) -> None:
        """The handler holds `size` more bytes of the request: they count as its body does, until that is given back."""
        if not self.finished:
            self._line.hold(size)

    def release_body(self) -> None:
        """The handler has let go of the request's body: its room is given back now, not only at the end of the reply."""
        if not self.finished:
            self._line.release_body()

    def abort(self) -> None:
        """Break the message off: what was written is sent, the rest never comes, and the connection closes.

        A client counts bytes or waits for the last chunk, so it sees the break; a body that ends with the connection is
        reset instead.
        """
        if not self.finished:
            self._flush()
            self.finished = True
            open_ended = self._left is None and not self._chunked and not self._silent
            self._line.reply_aborted(reset=self.started and open_ended)

    def _send(self, *buffers: Data) -> None:
        """Write buffers, after the head if it is still held; small ones joined, large ones not copied."""
        if self._held:
            buffers = (self._held, *buffers)
            self._held = b""
        write_together(self._line.transport, buffers)

    def _flush(self) -> None:
        if self._held and not self.finished:
            self._send()

    def _finish(self) -> None:
        self.finished = True
        self._line.reply_finished(keep_alive=self._keep_alive)

    def _head(self, status: int, headers: list[tuple[bytes, bytes]], length: int | None) -> bytes:
        assert not self.started, "a reply starts once"
        self.started = True
        self._silent = self._head_only or status in _NO_BODY
        self._keep_alive = self._line.may_keep_alive()
        parts = [_STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status]
        parts += [b"%b: %b\r\n" % header for header in headers]
        parts.append(self._framing(status, length))
        if not self._keep_alive:
            parts.append(b"connection: close\r\n")
        elif self._http10:
            parts.append(b"connection: keep-alive\r\n")
        parts.append(b"\r\n")
        return b"".join(parts)

    def _framing(self, status: int, length: int | None) -> bytes:
        """The header line that tells where the body ends, and the writer's state to match."""
        if status == HTTPStatus.NO_CONTENT or (self._silent and length is None):
            return b""
        if length is not None:
            self._left = length
            return b"content-length: %d\r\n" % length
        if self._http10:
            self._keep_alive = False
            return b""
        self._chunked = True
        return b"transfer-encoding: chunked\r\n"
