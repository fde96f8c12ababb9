"""One keep-alive HTTP/1.1 connection of the load generator."""

import asyncio
from typing import NamedTuple, cast

import httptools


class Answer(NamedTuple):
    """Status and whole body of one answer."""

    status: int
    body: bytes


class Connection(asyncio.Protocol):
    """Sends one request at a time and collects the answer."""

    def __init__(self) -> None:
        """Not yet connected; see `dial`."""
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._answer: asyncio.Future[Answer] | None = None
        self.started: asyncio.Future[None] | None = None
        """Set while a request is out: done at the first byte of the answer's body."""

    @property
    def open(self) -> bool:
        """True while a request may be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def send(self, head: bytes, body: bytes) -> "asyncio.Future[Answer]":
        """Send a request. The future fails with ConnectionError when the answer cannot come whole."""
        answer = self._answer = self._loop.create_future()
        self.started = self._loop.create_future()
        self._pieces = []
        if self._transport is None:
            self._fail("the connection was closed before the request")
        else:
            self._transport.writelines((head, body))
        return answer

    def close(self) -> None:
        """Hang up, whatever is still to come."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the socket is open."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transport is no subclass of it

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: the socket is gone."""
        self._transport = None
        self._fail(f"the connection was lost amid the answer: {exc}")

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes came."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"not HTTP: {error}")
            self.close()

    def on_body(self, data: bytes) -> None:
        """httptools: a piece of the answer's body."""
        self._pieces.append(data)
        if self.started is not None and not self.started.done():
            self.started.set_result(None)

    def on_message_complete(self) -> None:
        """httptools: the answer is whole."""
        answer, self._answer = self._answer, None
        if answer is None or answer.done():
            return
        answer.set_result(Answer(self._parser.get_status_code(), b"".join(self._pieces)))
        if not self._parser.should_keep_alive():
            self.close()

    def _fail(self, why: str) -> None:
        for future in (self._answer, self.started):
            if future is not None and not future.done():
                future.set_exception(ConnectionError(why))
                future.exception()  # whoever does not wait for both must not be warned about the other
        self._answer = None


async def dial(port: int) -> Connection:
    """Connect to 127.0.0.1:`port`."""
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection
