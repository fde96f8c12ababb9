"""One connection to an engine: one request at a time, its reply parsed by llhttp."""

import asyncio
import logging
from typing import Protocol, cast

import httptools

from forebay.domain.outcome import FailureKind
from forebay.gateway.http1.call import Call
from forebay.gateway.http1.coding import CodingError, Gunzip, without_gzip
from forebay.gateway.http1.message import HeaderList

log = logging.getLogger(__name__)

MAX_HEAD_BYTES = 64 * 1024
"""Of a reply. Twice what clients may send us; engines answer with a few hundred bytes."""


MAX_DECODED_BYTES = 64 * 1024 * 1024
"""Of a reply that comes as gzip, which we never ask for: it is decoded, so that its usage can be read and the client get it
plain; twice what clients may send us."""


class Home(Protocol):
    """Where connections come from and go back to."""

    def opened(self, connection: "EngineConnection") -> None:
        """It stands."""
        ...

    def closed(self, connection: "EngineConnection") -> None:
        """It is gone."""
        ...

    def take_back(self, connection: "EngineConnection") -> bool:
        """Keep it as idle; False if there is no room."""
        ...

    def forget(self, connection: "EngineConnection") -> None:
        """Do not hand it out: it will be closed."""
        ...

    def resend(self, call: Call) -> bool:
        """Send the request again on a fresh connection; False if that cannot be."""
        ...


class EngineConnection(asyncio.Protocol):
    """Callbacks only. The parser's callbacks collect; the sink is told after each read, outside the parser."""

    __slots__ = (
        "_answered", "_call", "_coded", "_dirty", "_ended", "_gunzip", "_head_bytes", "_headers", "_home", "_keep_alive", "_parser", "_pieces",
        "_reused", "_status", "_told_head", "_until_close", "idle_since", "peer", "retired", "transport", "url",
    )  # fmt: skip

    def __init__(self, home: Home, url: str) -> None:
        self.url = url
        self.idle_since = 0.0  # seconds of the loop's clock
        self.peer = ""  # the address at the other end, empty for a Unix socket
        self.retired = False  # not to be kept beyond the call that it carries
        self.transport: asyncio.Transport
        self._home = home
        self._parser = httptools.HttpResponseParser(self)
        self._call: Call | None = None
        self._headers: HeaderList = []
        self._pieces: list[bytes] = []
        self._dirty = False  # the engine sent what nobody asked for
        self._reset(reused=False)

    def _reset(self, *, reused: bool) -> None:
        self._reused = reused
        self._answered = False  # a byte of the reply has come
        self._status = 0  # of the final head, once it is whole
        self._told_head = False
        self._keep_alive = False
        self._coded = False  # the head names a content coding
        self._until_close = False  # the body ends where the connection ends
        self._ended = False
        self._head_bytes = 0
        self._gunzip: Gunzip | None = None

    # --- the call's side --------------------------------------------------------------------------------------------

    def begin(self, call: Call, *, reused: bool) -> None:
        """Send a call's request."""
        self._reset(reused=reused)
        self._call = call
        call.connection = self
        call.write_to(self.transport)
        if call.paused:
            self.pause()
        call.sink.on_connected()

    def pause(self) -> None:
        """Stop reading."""
        if not self.transport.is_closing():
            self.transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def retire(self) -> None:
        """Carry the call that is open to its end, and no other."""
        self.retired = True
        if self._call is None and self.idle_since:
            self.abandon()

    def abandon(self) -> None:
        """Cut the connection off; whoever waited for it wants to hear no more."""
        self._call = None
        self._home.forget(self)
        self.transport.abort()

    # --- what the transport tells -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the home."""
        self.transport = cast("asyncio.Transport", transport)
        peername = transport.get_extra_info("peername")
        self.peer = peername[0] if isinstance(peername, tuple) else ""
        self._home.opened(self)

    def data_received(self, data: bytes) -> None:
        """Parse, then tell."""
        call = self._call
        if call is None:
            self.abandon()  # unasked bytes: whatever comes next could be taken for the next reply
            return
        if not self._answered:
            self._answered = True
            call.answered()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail(call, FailureKind.PROTOCOL, "the engine switched protocols")
            return
        except httptools.HttpParserError as error:
            if not self._ended:
                self._fail(call, FailureKind.PROTOCOL, f"malformed reply: {error}")
                return
            self._dirty = True
        if not self._told_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and self._head_is_too_long():
                detail = f"the head of the reply is longer than {MAX_HEAD_BYTES} bytes"
                self._fail(call, FailureKind.PROTOCOL, detail)
                return
        self._tell(call)

    def eof_received(self) -> None:
        """The engine closed. That is the end of a body without a length; anything else is told by `connection_lost`."""
        call = self._call
        if call is None:
            self._home.forget(self)
        elif self._until_close:
            self._ended = True
            self._tell(call)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is no more. A kept one that was lost before a byte was answered had been closed by the engine."""
        self._home.closed(self)
        call = self._call
        if call is None:
            return
        if self._reused and not self._answered and not call.resent:
            call.resent = True
            call.connection = None
            if self._home.resend(call):
                self._call = None
                return
        detail = "the reply was broken off" if self._answered else "the connection closed before a reply"
        self._fail(call, FailureKind.RESET, f"{detail}: {exc}" if exc else detail)

    # --- what the parser tells --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A head begins; after the end of the reply it is one too many."""
        if self._ended:
            self._dirty = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of a head (llhttp leaves blanks at the end of a value), or of a trailer, which nobody wants."""
        if not self._status:
            self._headers.append((name.lower(), value.strip()))

    def on_headers_complete(self) -> None:
        """A head is whole: an interim one is dropped, the final one tells how the body ends."""
        if self._ended:
            return
        status = self._parser.get_status_code()
        if status < 200:
            self._headers = []
            return
        self._status = status
        self._keep_alive = self._parser.should_keep_alive()
        fields = dict(self._headers)
        self._coded = b"content-encoding" in fields
        coding = fields.get(b"transfer-encoding")
        if coding is not None and coding.lower() != b"chunked":
            raise ValueError(
                "a transfer coding other than chunked"
            )  # comes out of feed_data as a parser error
        if self._call is not None and self._call.head_only:
            self._ended = True
            self._keep_alive = False  # llhttp now waits for a body that never comes
        elif status not in {204, 304}:
            self._until_close = coding is None and b"content-length" not in fields

    def on_body(self, data: bytes) -> None:
        """Part of the body."""
        if not self._ended:
            self._pieces.append(data)

    def on_message_complete(self) -> None:
        """The message is whole; an interim one does not count."""
        if self._status:
            self._ended = True

    # --- telling the sink -------------------------------------------------------------------------------------------

    def _tell(self, call: Call) -> None:
        """Tell what the last read brought. The sink may close the call in any of its methods."""
        try:
            if self._status and not self._told_head:
                self._told_head = True
                call.sink.on_head(self._status, self._take_headers(call))
            if self._pieces and not call.done:
                pieces, self._pieces = self._pieces, []
                data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
                if self._gunzip is not None:
                    data = self._gunzip.feed(data)
                if data:
                    call.sink.on_data(data)
            if self._ended and not call.done:
                self._finish(call)
        except CodingError as error:
            self._fail(call, FailureKind.PROTOCOL, error.message)
        except Exception:
            log.exception("a reply could not be handled")
            if not call.done:
                self._fail(call, FailureKind.PROTOCOL, "internal error")

    def _take_headers(self, call: Call) -> HeaderList:
        headers, self._headers = self._headers, []
        decoded = without_gzip(headers) if self._coded and not call.head_only else None
        if decoded is None:
            return headers
        self._gunzip = Gunzip(MAX_DECODED_BYTES)
        return decoded

    def _finish(self, call: Call) -> None:
        if self._gunzip is not None and not self._gunzip.complete:
            self._fail(call, FailureKind.PROTOCOL, "a gzip body ends too early")
            return
        self._call = None
        sink = call.sink
        was_paused = call.paused
        call.finish()
        unsent = self.transport.get_write_buffer_size() > 0  # an answer before the whole request was read
        if (
            self._keep_alive
            and not (self._dirty or unsent or self._until_close)
            and self._home.take_back(self)
        ):
            if was_paused:
                self.resume()
        else:
            self.abandon()
        sink.on_end()

    def _fail(self, call: Call, kind: FailureKind, detail: str) -> None:
        sink = call.sink
        call.finish()
        self.abandon()
        sink.on_lost(kind, detail)

    def _head_is_too_long(self) -> bool:
        return (
            not self._status
            or sum(len(name) + len(value) + 4 for name, value in self._headers) > MAX_HEAD_BYTES
        )
