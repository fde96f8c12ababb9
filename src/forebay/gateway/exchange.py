"""One client request on its way: its body, its attempts at engines, its reply."""

import logging
from typing import TYPE_CHECKING

from forebay.admission.status import answer_for
from forebay.conductor.commands import Dispatch, Reject
from forebay.conductor.events import Cancelled, Failed, Finished, FirstToken, Progress
from forebay.domain.outcome import Attempt, FailureKind, Usage
from forebay.domain.request import ANYWHERE
from forebay.gateway.answers import JSON
from forebay.gateway.http1.message import HeaderList, ReplyWriter, Request
from forebay.gateway.http1.upstream import Call
from forebay.gateway.outgoing import outgoing
from forebay.gateway.readings import ErrorReading, Reading, reading_of
from forebay.gateway.streams.errors import error_body, error_event
from forebay.intake.form import Understood
from forebay.telemetry.observer import Passage

if TYPE_CHECKING:
    from forebay.gateway.front import Gateway

log = logging.getLogger(__name__)

SECOND_US = 1_000_000
# The conductor is told how a stream goes on at most this often.
PROGRESS_US = SECOND_US
# What logs say of a client that left before it was answered (nginx's word for it).
CLIENT_LEFT = 499
STOPPING = answer_for(FailureKind.DRAIN_TIMEOUT)
# What a client is told of a stream that its engine broke off, whichever way.
TRUNCATED = "upstream_truncated"
BROKEN_OFF = frozenset(
    answer_for(kind).code for kind in (FailureKind.RESET, FailureKind.PROTOCOL, FailureKind.TRUNCATED)
)


class Exchange:
    """Carries one request from its arrival to its one ending. It is the sink of its attempt's upstream connection.

    It moves bytes and tells the driver what happened; what to do about it comes back as commands.
    """

    __slots__ = (
        "attempt", "beat_at", "body", "call", "connected", "connecting_at", "content_sent", "dispatched_at", "gateway", "last_at", "opened_at", "over",
        "reading", "refused", "renames", "reply", "reply_bytes", "request", "shown_id", "slot", "status", "told_at", "tries", "understood",
    )  # fmt: skip

    def __init__(
        self,
        gateway: "Gateway",
        request: Request,
        understood: Understood,
        body: bytes | bytearray,
        reply: ReplyWriter,
        shown_id: str,
        opened_at: int,
    ) -> None:
        """`body` is kept until the first content, in case another attempt must send it again."""
        self.gateway = gateway
        self.request = request
        self.understood = understood
        self.body: bytes | bytearray | None = body
        self.reply = reply
        reply.owner = self
        self.shown_id = shown_id
        self.over = False
        self.call: Call | None = None
        self.attempt: Attempt | None = None
        self.slot = ANYWHERE  # of the attempt
        self.reading: Reading | None = None
        self.opened_at = opened_at
        self.dispatched_at = self.connecting_at = self.last_at = self.told_at = self.beat_at = 0
        self.connected = False  # the attempt's request has been written
        self.content_sent = False
        self.renames = False  # the engine knows the model by another name than the client
        self.tries = self.status = self.reply_bytes = 0
        self.refused = ""

    # --- commands

    def dispatch(self, command: Dispatch) -> None:
        """Send the request, with the edits that it needs, to the endpoint."""
        assert self.body is not None, "nothing is sent again once content has begun"
        self.attempt = command.attempt
        self.slot = command.endpoint.slot
        self.tries += 1
        if self.reading is not None:
            self._drop_reading()
        self.connected = False
        self.renames = command.model != self.understood.request.model
        self.dispatched_at = self.connecting_at = self.last_at = self.gateway.clock()
        try:
            pool = self.gateway.directory.find(command.model)
            assert pool is not None, "the plan and the directory change together"
            head, body = outgoing(self.request, self.understood, self.body, command, pool)
            self.call = self.gateway.upstreams.send(command.endpoint.url, head, body, self)
        except Exception:
            log.exception("an attempt could not be sent to %s", command.endpoint.name)
            self.fail(FailureKind.CONNECT)

    def abort(self) -> None:
        """Close the attempt's connection; nothing more is wanted of it."""
        if self.call is not None:
            self.call.close()
            self.call = None

    def reject(self, command: Reject) -> None:
        """Answer for the last time: the engine's own error, ours, or an error event in a stream that has begun."""
        self.abort()
        self.refused = command.code
        api = self.understood.request.api
        if self.reply.started:
            code = command.code.replace("-", "_")
            kind = TRUNCATED if command.code in BROKEN_OFF else None
            self._break_stream(error_event(api, command.status, code, command.message, kind=kind))
        elif command.relay and isinstance(self.reading, ErrorReading):
            headers = [header for header in self.reading.headers if header[0] != b"retry-after"]
            self.respond(self.reading.status, headers, self.reading.body(), command.retry_after_seconds)
        else:
            code = command.code.replace("-", "_")
            body = error_body(api, command.status, code, command.message)
            self.respond(command.status, JSON, body, command.retry_after_seconds)
        self._over(self.gateway.clock())

    # --- what the engine sends (Sink)

    def on_connecting(self) -> None:
        """The clock for the connection starts again."""
        self.connected = False
        self.connecting_at = self.gateway.clock()

    def on_connected(self) -> None:
        """The clock for the connection stops; that for the first content runs since the dispatch."""
        self.connected = True

    def on_head(self, status: int, headers: HeaderList) -> None:
        """The reply's head: it decides how the rest is read."""
        self.reading = reading_of(self, status, headers)

    def on_data(self, data: bytes) -> None:
        """Bytes of the reply's body."""
        assert self.reading is not None, "a body has a head"
        self.last_at = at = self.gateway.clock()
        self.reading.take(data, at)

    def on_end(self) -> None:
        """The reply is whole, as far as HTTP can tell."""
        assert self.reading is not None, "a reply has a head"
        self.call = None
        self._end(self.reading)

    def on_lost(self, kind: FailureKind, detail: str) -> None:  # noqa: ARG002 - the words are for the log of the wire
        """The connection failed before the reply was whole."""
        self.call = None
        if self.reading is not None and self.reading.survives_loss():
            self._end(self.reading)
        else:
            self.fail(kind)

    # --- what readings find out

    def content_began(self, at: int) -> None:
        """The client is about to see content: from here on there is no second attempt, and no need for the body."""
        self.content_sent = True
        self.body = None
        self.reply.release_body()
        self.told_at = at
        assert self.attempt is not None
        self.gateway.driver.feed(FirstToken(at, self.attempt))

    def start_reply(self, status: int, headers: HeaderList, length: int | None) -> None:
        """Commit the head, and couple the two sides: a client that does not read stops its engine from sending."""
        self.status = status
        self.reply.on_writable = self._client_reads
        self.reply.start(status, self.own_headers(headers, 0), length)

    def send(self, data: bytes) -> None:
        """Body bytes for the client."""
        self.reply_bytes += len(data)
        self.reply.write(data)

    def respond(self, status: int, headers: HeaderList, body: bytes, retry_after_seconds: int = 0) -> None:
        """A whole reply."""
        self.status = status
        self.reply_bytes += len(body)
        self.reply.respond(status, self.own_headers(headers, retry_after_seconds), body)

    def finish(self, usage: Usage, at: int) -> None:
        """The reply is whole and sent."""
        self.reply.end()
        assert self.attempt is not None
        self.gateway.driver.feed(Finished(at, self.attempt, usage))
        self._over(at)

    def fail(self, kind: FailureKind, *, status: int = 0, retry_after_us: int = 0) -> None:
        """The attempt is over; the conductor says what comes of it."""
        self.abort()
        assert self.attempt is not None
        event = Failed(
            self.gateway.clock(), self.attempt, kind, status, retry_after_us, self.content_sent, self.usage()
        )
        self.gateway.driver.feed(event)

    def usage(self) -> Usage:
        """Tokens counted so far."""
        return self.reading.usage() if self.reading is not None else Usage()

    def sealed_id(self, engine_id: str) -> str:
        """The client's id of a response that the attempt's endpoint keeps."""
        tenant = self.understood.request.tenant
        return self.gateway.directory.response_ids.sealed(engine_id, self.slot, tenant)

    # --- the client, and time

    def gone(self) -> None:
        """The client left."""
        self.status = self.status or CLIENT_LEFT
        at = self.gateway.clock()
        self.gateway.driver.feed(Cancelled(at, self.understood.request.request_id, self.usage()))
        self.abort()
        self._over(at)

    def break_off(self) -> None:
        """The gateway stops now, and says so to whoever still waits."""
        if self.call is not None:
            self.fail(FailureKind.DRAIN_TIMEOUT)
            return
        api = self.understood.request.api
        body = error_body(api, STOPPING.status, STOPPING.code.replace("-", "_"), STOPPING.message)
        self.respond(STOPPING.status, JSON, body, 1)
        self.gone()

    def check(self, at: int) -> None:
        """Look at the clocks: the four timeouts, the telling of progress, and signs of life to the client."""
        if self.call is None or self.attempt is None:
            return
        timeouts, heartbeat_seconds = self.gateway.clocks(self.understood.request.model)
        if timeouts.total_seconds and at - self.opened_at > timeouts.total_seconds * SECOND_US:
            self.fail(FailureKind.TOTAL_TIMEOUT)
        elif self.content_sent:
            if at - self.last_at > timeouts.idle_seconds * SECOND_US and self.reply.writable:
                self.fail(FailureKind.IDLE_TIMEOUT)
            else:
                self._tell_progress(at)
                self._beat(at, heartbeat_seconds)
        elif not self.connected and at - self.connecting_at > timeouts.connect_seconds * SECOND_US:
            self.fail(FailureKind.CONNECT)
        elif at - self.dispatched_at > timeouts.first_content_seconds * SECOND_US:
            self.fail(FailureKind.FIRST_CONTENT_TIMEOUT)

    # --- inside

    def own_headers(self, headers: HeaderList, retry_after_seconds: int) -> HeaderList:
        """`headers`, and what this gateway adds: the request's id, and how many attempts were made."""
        own = [
            *headers,
            (b"x-request-id", self.shown_id.encode()),
            (b"x-forebay-attempts", b"%d" % self.tries),
        ]
        if retry_after_seconds:
            own.append((b"retry-after", b"%d" % retry_after_seconds))
        return own

    def _end(self, reading: Reading) -> None:
        try:
            reading.end(self.gateway.clock())
        except Exception:
            # With its connection the attempt has lost its clocks: nothing else would ever end it.
            log.exception("the end of a reply could not be handled")
            self.fail(FailureKind.PROTOCOL)

    def _break_stream(self, event: bytes) -> None:
        """End what has begun so that nobody takes it for whole."""
        if self.reading is not None and self.reading.takes_events:
            if not self.reading.error_shown():
                self.send(event)
            self.reply.end()
        else:
            self.reply.abort()

    def _client_reads(self, reads: bool) -> None:
        if self.call is not None:
            if reads:
                self.last_at = self.gateway.clock()
                self.call.resume()
            else:
                self.call.pause()

    def _beat(self, at: int, heartbeat_seconds: float) -> None:
        silent_us = at - max(self.last_at, self.beat_at)
        if heartbeat_seconds and silent_us >= heartbeat_seconds * SECOND_US and self.reading is not None:
            self.beat_at = at
            self.reading.beat()

    def _tell_progress(self, at: int) -> None:
        if at - self.told_at < PROGRESS_US:
            return
        self.told_at = at
        progress = self.reading.progress() if self.reading is not None else None
        if progress is not None:
            assert self.attempt is not None
            self.gateway.driver.feed(Progress(at, self.attempt, *progress))

    def _drop_reading(self) -> None:
        reading, self.reading = self.reading, None
        if reading is not None:
            reading.drop()

    def _over(self, at: int) -> None:
        if self.over:
            return
        self.over = True
        self.body = None
        self._drop_reading()
        # The two point at each other; without this, it would take the collector to free them.
        self.reply.owner = self.reply.on_writable = None
        request = self.understood.request
        self.gateway.exchanges.pop(request.request_id, None)
        self.gateway.served(
            Passage(
                request_id=request.request_id,
                api=request.api.value,
                model=request.model,
                status=self.status,
                body_bytes=request.body_bytes,
                reply_bytes=self.reply_bytes,
                duration_us=at - self.opened_at,
                reason=self.refused,
            )
        )
