"""One client connection: takes requests in, enforces the floor, and carries one reply at a time."""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import cast

from forebay.gateway.http1.body import ChunkedBody, LengthBody, Upload
from forebay.gateway.http1.chunked import ChunkError
from forebay.gateway.http1.connections import Connections
from forebay.gateway.http1.head import HEAD_END, HeadError
from forebay.gateway.http1.reply import ReplyWriter
from forebay.gateway.http1.request_head import CHUNKED, RequestHead, check_growing
from forebay.gateway.http1.state import State
from forebay.gateway.http1.writing import reset_on_close, waiting_bytes

log = logging.getLogger(__name__)

MAX_BLANK_LINES = 2
"""Before a request line; RFC 9112 section 2.2 wants one forgiven, for clients that end a body with a line of their own."""
MAX_REQUESTS_A_TURN = 8
"""Pipelined requests of one connection that are begun before others get their turn."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# Looked up once: states are compared at every read.
_HEAD, _LENGTH, _CHUNKS, _REPLY, _LINGER, _CLOSED = State


class ServerProtocol(asyncio.BufferedProtocol):
    """Callbacks only. One request is in flight at a time; bytes of the next wait until its reply ends.

    A client that closes its side while its reply is pending counts as gone, even if it only half-closed: waiting for more
    proof would keep an engine busy for nobody.
    """

    __slots__ = (
        "_connections", "_head", "_held", "_idle", "_max_body_bytes", "_must_close", "_paused", "_reply", "_running",
        "_state", "_stuck_bytes", "_taken_bytes", "_thrown_bytes", "_unread", "_upload", "deadline", "peer", "transport",
        "writable",
    )  # fmt: skip

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.transport: asyncio.Transport
        self.peer = ""
        self.writable = True
        self.deadline = math.inf  # of the present state, in seconds of the loop's clock
        self._state = _HEAD
        self._held = b""  # bytes of requests that are not begun
        self._head: RequestHead | None = None
        self._reply: ReplyWriter | None = None
        self._upload: Upload | None = None
        self._max_body_bytes = 0
        self._taken_bytes = 0  # of the budget, for this request's body
        self._thrown_bytes = 0
        self._stuck_bytes = 0
        self._idle = False  # kept alive, and nothing of the next request has come
        self._unread = False  # the client may still be sending what we will not read
        self._must_close = False
        self._paused = False
        self._running = False

    @property
    def busy(self) -> bool:
        """A request is in hand."""
        return self._reply is not None

    # --- what the transport tells -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the newcomer, or refuse it."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop does not derive its own from it
        peername = transport.get_extra_info("peername")
        self.peer = peername[0] if isinstance(peername, tuple) else "unix"
        refusal = self._connections.add(self)
        self.deadline = self._now() + self._connections.limits.head_timeout_seconds
        if self._connections.crowded_out:
            self.abort()
        elif refusal is not None:
            self._refuse(503, "too-many-connections", refusal)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  the hint is about the loop's own buffers
        """Where to read to: a body of known length into its own buffer, all else into the shared one."""
        if self._state is _LENGTH and self._upload is not None and isinstance(self._upload.body, LengthBody):
            return self._upload.body.room()
        return self._connections.receive_view

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have been read."""
        state = self._state
        if state is _LENGTH and self._upload is not None and isinstance(self._upload.body, LengthBody):
            self._upload.body.received += nbytes
            self._upload_grew(self._upload, nbytes)
        elif state is _CHUNKS:
            self._chunks_received(bytes(self._connections.receive_view[:nbytes]))
        elif state is _LINGER:
            self._throw_away(nbytes)
        elif state is not _CLOSED:
            data = bytes(self._connections.receive_view[:nbytes])
            self._held = self._held + data if self._held else data
            self._run()

    def eof_received(self) -> None:
        """The client will send no more. A reply that is pending has lost its reader; otherwise the transport closes."""
        if self._reply is not None:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  however it was lost, it is lost
        """Forget the connection, and tell the handler if a reply was pending."""
        self._connections.remove(self)
        self._gone()

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self.writable = False
        self._stuck_bytes = waiting_bytes(self.transport)
        if self._reply is not None:
            self.deadline = self._now() + self._connections.limits.send_timeout_seconds
            if self._reply.on_writable is not None:
                self._reply.on_writable(False)

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.writable = True
        if self._reply is not None:
            self.deadline = math.inf
            if self._reply.on_writable is not None:
                self._reply.on_writable(True)
        else:
            if self._state is _HEAD and self._idle:
                self.deadline = self._now() + self._connections.limits.idle_timeout_seconds
            self._resume()
            self._run()

    # --- a request comes in -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Begin the requests that are held, one after the other: a loop, because a handler may answer at once."""
        if self._running:
            return
        if self._paused and self._ready():
            self._resume()
        self._running = True
        try:
            more = self._begin_some()
        finally:
            self._running = False
        if len(self._held) > self._connections.limits.max_pipelined_bytes:
            self._bound_held(more=more)
        if more:
            self._connections.loop.call_soon(self._run)

    def _begin_some(self) -> bool:
        """Whether more can be begun in the next turn."""
        for _ in range(MAX_REQUESTS_A_TURN):
            if not self._ready() or not self._take_head():
                return False
        return self._ready()

    def _ready(self) -> bool:
        return self._state is _HEAD and bool(self._held) and self.writable

    def _bound_held(self, *, more: bool) -> None:
        """Too much is held. `more` requests of it may be begun soon; without them, a lone long head may be read on."""
        if self._reply is not None and not self._unread:
            self.abort()  # were reading paused instead, the client's leaving would go unnoticed
        elif more or self._state is not _HEAD or not self.writable:
            self._pause()

    def _take_head(self) -> bool:
        """Begin the request at the front of what is held; False if its head is not whole or not right."""
        data = self._held
        for _ in range(MAX_BLANK_LINES):
            data = data.removeprefix(b"\r\n")
        end = data.find(HEAD_END)
        try:
            if end < 0:
                self._hold_head(data)
                return False
            head = self._connections.heads.parse(data[: end + len(HEAD_END)], self.peer)
        except HeadError as error:
            self._refuse(error.status, error.code, error.message)
            return False
        self._held = data[end + len(HEAD_END) :]
        self._begin(head)
        return True

    def _hold_head(self, data: bytes) -> None:
        check_growing(data, self._connections.limits)
        if data and self._idle:
            self._idle = False
            self.deadline = self._now() + self._connections.limits.head_timeout_seconds
        self._held = data

    def _begin(self, head: RequestHead) -> None:
        self._head = head
        self._state = _REPLY
        self.deadline = math.inf
        request = head.request
        reply = ReplyWriter(self, head_only=request.method == "HEAD", http10=request.http10)
        self._reply = reply
        self._must_close = not request.keep_alive
        self._unread = bool(head.body_bytes)
        try:
            self._max_body_bytes = self._connections.handler.on_head(request, reply)
        except Exception:
            log.exception("a request could not be handled")
            self._handler_failed(reply)
            return
        if reply.started:
            return
        if head.body_bytes > self._max_body_bytes:
            self._refuse_long_body()
        elif not head.body_bytes:
            self._deliver(b"")
        else:
            self._begin_body(head)

    def _begin_body(self, head: RequestHead) -> None:
        length = head.body_bytes
        held = self._held
        budget = self._connections.budget
        if 0 < length <= len(held) and not budget.full:
            self._held = held[length:]
            self._taken_bytes = length
            budget.take(length)
            self._deliver(held[:length])
            return
        body = ChunkedBody() if length == CHUNKED else LengthBody(length, held[:length])
        upload = Upload(body, self._now())
        self._upload = upload
        if length == CHUNKED:
            self._state = _CHUNKS
            self._held = b""
            self._chunks_received(held)
        else:
            self._state = _LENGTH
            self._held = held[length:]
            self.hold(upload.body.received)
        if self._upload is not upload or upload.waiting or (budget.full and self._wait_for_room(upload)):
            return
        if upload.body.complete:
            self._deliver(upload.body.buffer)
        else:
            self._read_on(upload)

    def _read_on(self, upload: Upload) -> None:
        limits = self._connections.limits
        self.deadline = upload.too_slow_at(limits.body_grace_seconds, limits.min_body_bytes_per_second)
        if self._head is not None and self._head.expects_continue and not upload.body.received:
            self.transport.write(_CONTINUE)

    def _chunks_received(self, data: bytes) -> None:
        upload = self._upload
        assert upload is not None
        assert isinstance(upload.body, ChunkedBody)
        before = upload.body.received
        try:
            upload.body.feed(data)
        except ChunkError as error:
            self._refuse(400, "bad-chunk", f"Malformed chunked body: {error}.")
            return
        if upload.body.received > self._max_body_bytes:
            self._refuse_long_body()
            return
        self._held = upload.body.rest
        self._upload_grew(upload, upload.body.received - before)

    def _upload_grew(self, upload: Upload, nbytes: int) -> None:
        self.hold(nbytes)
        if upload.body.complete:
            self._deliver(upload.body.buffer)
        elif self._connections.budget.full:
            self._wait_for_room(upload)

    def _wait_for_room(self, upload: Upload) -> bool:
        if not self._connections.budget.wait(self._room_given, self._taken_bytes):
            return False
        now = self._now()
        upload.wait(now)
        self.deadline = now + self._connections.limits.buffer_wait_seconds
        self._pause()
        return True

    def _room_given(self) -> None:
        upload = self._upload
        assert upload is not None
        upload.go_on(self._now())
        self._resume()
        if upload.body.complete:
            self._connections.loop.call_soon(self._deliver_late, upload)  # not within whoever gave the room
        else:
            self._read_on(upload)

    def _deliver_late(self, upload: Upload) -> None:
        if self._upload is upload:
            self._deliver(upload.body.buffer)

    def _deliver(self, body: bytes | bytearray) -> None:
        assert self._head is not None
        assert self._reply is not None
        reply = self._reply
        self._upload = None
        self._state = _REPLY
        self._unread = False
        self.deadline = math.inf
        try:
            self._connections.handler.on_body(self._head.request, body, reply)
        except Exception:
            log.exception("a request could not be handled")
            self._handler_failed(reply)

    # --- a reply goes out -------------------------------------------------------------------------------------------

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Call back in the loop's next turn."""
        self._connections.loop.call_soon(callback)

    def may_keep_alive(self) -> bool:
        """Not after a refusal, with a body unread, during a drain, or when the client said close."""
        return not (self._must_close or self._unread or self._connections.draining)

    def reply_finished(self, *, keep_alive: bool) -> None:
        """Turn to the next request, or end the connection in a way that lets the client read the reply."""
        self._release()
        if keep_alive:
            self._state = _HEAD
            self._idle = True
            self.deadline = self._now() + self._connections.limits.idle_timeout_seconds
            if not self.writable:
                self._stuck_bytes = waiting_bytes(self.transport)
            elif self._paused:
                self._resume()
            if self._held and not self._running:
                # Not now: whoever ends this reply may be in the middle of something that the next request would enter.
                self._connections.loop.call_soon(self._run)
        elif self._unread or self._held.strip(b"\r\n"):
            self._linger()
        else:
            self._close()

    def reply_aborted(self, *, reset: bool) -> None:
        """The reply stays unfinished: close."""
        self._release()
        if reset:
            reset_on_close(self.transport)
            self.abort()
        else:
            self._close()

    # --- what goes wrong --------------------------------------------------------------------------------------------

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Let the handler word the refusal; then the connection ends."""
        reply = self._reply
        if reply is None:
            reply = self._reply = ReplyWriter(self, head_only=False, http10=False)
            self._unread = True
        elif reply.started:
            reply.abort()
            return
        self._state = _REPLY
        self.deadline = math.inf
        self._must_close = True
        try:
            self._connections.handler.on_bad(status, code, message, reply)
        except Exception:
            log.exception("the refusal %d %s could not be worded", status, code)
        if not reply.started:
            reply.respond(status, [], b"")
        elif not reply.finished:
            reply.abort()

    def _refuse_long_body(self) -> None:
        limit = f"{self._max_body_bytes} bytes (setting `inbound.max_body_bytes`)"
        self._refuse(413, "body-too-large", f"The body must not be longer than {limit}.")

    def _handler_failed(self, reply: ReplyWriter) -> None:
        if not reply.finished:
            self._refuse(500, "internal-error", "An internal error occurred.")

    def _gone(self) -> None:
        """The client is lost: end the reply, and tell the handler if it has the request."""
        reply = self._reply
        if reply is None:
            return
        reply.finished = True
        self._release()
        if self._unread:
            return
        try:
            self._connections.handler.on_gone(reply)
        except Exception:
            log.exception("the loss of a client could not be handled")

    # --- deadlines and endings --------------------------------------------------------------------------------------

    def expire(self, now: float) -> None:
        """The deadline of the present state has passed. Whoever still reads what was written for it is given more time."""
        limits = self._connections.limits
        if self._reply is None and self._client_takes() and self._stuck_bytes:
            self.deadline = now + limits.send_timeout_seconds
        elif self._state in {_LINGER, _CLOSED}:
            self.transport.abort()
        elif self._upload is not None:
            self._expire_upload(self._upload, now)
        elif self._reply is not None:
            if not self._client_takes():
                self.abort()
            self.deadline = now + limits.send_timeout_seconds
        elif self._held and self.writable:
            late = f"The head did not arrive within {limits.head_timeout_seconds:g} s."
            self._refuse(408, "head-timeout", late)
        else:
            self._close()

    def _client_takes(self) -> bool:
        """Less waits for the client than when last looked."""
        before, self._stuck_bytes = self._stuck_bytes, waiting_bytes(self.transport)
        return self._stuck_bytes < before

    def _expire_upload(self, upload: Upload, now: float) -> None:
        limits = self._connections.limits
        too_slow_at = upload.too_slow_at(limits.body_grace_seconds, limits.min_body_bytes_per_second)
        if upload.waiting:
            self._refuse(503, "buffers-full", "Too many request bodies are being held; try again later.")
        elif too_slow_at <= now:
            slow = f"The body came at under {limits.min_body_bytes_per_second} bytes a second."
            self._refuse(408, "body-too-slow", slow)
        else:
            self.deadline = too_slow_at

    def close_if_idle(self) -> None:
        """Close, if no part of a request has come."""
        if self._state is _HEAD and not self._held:
            self._close()

    def abort(self) -> None:
        """Cut the connection off at once."""
        self._state = _CLOSED
        self.transport.abort()
        self._gone()

    def _linger(self) -> None:
        """Say that nothing more will come, and read on for a while: closing on unread bytes would reset the reply away."""
        self._state = _LINGER
        self._held = b""
        self.deadline = self._now() + self._connections.limits.linger_seconds
        self._stuck_bytes = waiting_bytes(self.transport)
        if self.transport.can_write_eof():  # TLS has no half-closed connections
            self.transport.write_eof()
        self._resume()

    def _throw_away(self, nbytes: int) -> None:
        self._thrown_bytes += nbytes
        if self._thrown_bytes > self._connections.limits.linger_bytes:
            self.transport.abort()

    def _close(self) -> None:
        """Close once what was written is sent; `expire` sees to it that this ends."""
        self._state = _CLOSED
        self._stuck_bytes = waiting_bytes(self.transport)
        self.deadline = self._now() + self._connections.limits.send_timeout_seconds
        self.transport.close()

    # --- small parts ------------------------------------------------------------------------------------------------

    def _release(self) -> None:
        """Let go of the request."""
        upload = self._upload
        if upload is not None and upload.waiting:
            self._connections.budget.forget(self._room_given)
        self._reply = self._head = self._upload = None
        self.release_body()

    def hold(self, nbytes: int) -> None:
        """Take so much more room for this request's body."""
        self._taken_bytes += nbytes
        self._connections.budget.take(nbytes)

    def release_body(self) -> None:
        """Give back the room that this request's body took."""
        if self._taken_bytes:
            taken_bytes, self._taken_bytes = self._taken_bytes, 0
            self._connections.budget.give(taken_bytes)

    def _pause(self) -> None:
        if not self._paused and not self.transport.is_closing():
            self._paused = True
            self.transport.pause_reading()

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            if not self.transport.is_closing():
                self.transport.resume_reading()

    def _now(self) -> float:
        return self._connections.loop.time()
