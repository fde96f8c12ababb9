"""A request as the gateway sees it, and what it must do to serve one."""

from typing import Protocol

import msgspec

from forebay.gateway.http1.reply import ReplyWriter

__all__ = ["Handler", "HeaderList", "ReplyWriter", "Request"]

HeaderList = list[tuple[bytes, bytes]]
"""Header lines in their order; names in lower case, values without outer blanks. CR, LF and NUL cannot occur in either."""


class Request(msgspec.Struct, frozen=True, eq=False):
    """The head of one request, already past the floor: framing is unambiguous and sizes are within limits.

    Requests with equal heads may share one, so nothing in it may be changed.
    """

    method: str
    target: str
    """Path and query as sent (an absolute-form target without its scheme and authority)."""
    path: str
    """The target up to its first `?`."""
    headers: HeaderList
    """Without Content-Length: it is the body's."""
    keep_alive: bool
    """The client allows another request on this connection."""
    peer: str
    """Address of the client's end, without port; `unix` where there is none."""
    http10: bool = False
    _first: dict[bytes, bytes] = {}

    def __post_init__(self) -> None:
        """Index the headers."""
        self._first.update(reversed(self.headers))

    def header(self, name: bytes) -> bytes | None:
        """Value of the first header with this lower-case name."""
        return self._first.get(name)


class Handler(Protocol):
    """Serves the requests of one listener. All calls come from the event loop and must not block it."""

    def on_head(self, request: Request, reply: ReplyWriter) -> int:
        """Told before the body is read. Returns the most body bytes to accept (a longer one is 413).

        The handler may already answer here; then no body is read, and the connection closes if one was announced.
        """
        ...

    def on_body(self, request: Request, body: bytes | bytearray, reply: ReplyWriter) -> None:
        """The whole body, b"" if there is none. It is the handler's to keep, but not to resize during this call."""
        ...

    def on_gone(self, reply: ReplyWriter) -> None:
        """The client closed or broke the connection before the reply was finished. Once at most, and only after `on_body`."""
        ...

    def on_bad(self, status: int, code: str, message: str, reply: ReplyWriter) -> None:
        """The request broke a rule of the floor: answer with `reply.respond` at once; the connection closes after it.

        `code` is kebab-case for programs, `message` is for people and never holds what the client sent.
        """
        ...
