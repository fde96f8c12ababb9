"""Three ways to read an engine's reply: as a stream, as a whole, and as an error."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from forebay.domain.outcome import FailureKind, Usage
from forebay.gateway.answers import JSON
from forebay.gateway.http1.headers import response_headers, sse_headers, value_of
from forebay.gateway.http1.message import HeaderList
from forebay.gateway.retry_after import retry_after_us
from forebay.gateway.streams.anthropic_stream import AnthropicStream
from forebay.gateway.streams.errors import error_body
from forebay.gateway.streams.kept_ids import ResponseRestorer
from forebay.gateway.streams.machine import EndKind, StreamFailure, StreamMachine
from forebay.gateway.streams.openai_stream import OpenAIStream
from forebay.gateway.streams.typed_stream import TypedStream
from forebay.gateway.streams.whole_reply import read_reply
from forebay.intake.form import Replies

if TYPE_CHECKING:
    from forebay.gateway.exchange import Exchange

# A whole reply is kept until it is complete, so that it can be tried again and its usage read. Larger ones (embeddings
# of a big batch) are passed on as they come.
MAX_WHOLE_BYTES = 32 * 1024 * 1024
# Of an engine's error reply: an explanation needs no more.
MAX_ERROR_BYTES = 1024 * 1024
HEARTBEAT = b": heartbeat\n\n"
FIRST_ERROR_STATUS = 400
FIRST_SERVER_STATUS = 500
REQUEST_TIMEOUT = 408
TOO_MANY_REQUESTS = 429


class Reading(ABC):
    """How one attempt's reply is read. It drives its exchange, which drives the rest."""

    takes_events = False  # whether an error event may still be sent after this reply has begun

    @abstractmethod
    def take(self, data: bytes, at: int) -> None:
        """Body bytes, at this moment."""

    @abstractmethod
    def end(self, at: int) -> None:
        """The body is over."""

    def survives_loss(self) -> bool:
        """Whether the reply counts as whole though its connection broke: all that the API demands has been said."""
        return False

    def error_shown(self) -> bool:
        """Whether the client has already been told of the failure, by the engine."""
        return False

    def drop(self) -> None:  # noqa: B027 - most keep nothing
        """Let go of what was kept: nobody will want it."""

    def beat(self) -> None:  # noqa: B027 - only streams have a place for it
        """Show the client that the reply goes on, if there is a place for that now."""

    def usage(self) -> Usage:
        """Tokens counted so far."""
        return Usage()

    def progress(self) -> tuple[int, int] | None:
        """Output tokens so far and the largest gap between two since the last call; None when that cannot be told."""
        return None


class StreamReading(Reading):
    """Server-sent events, through a stream machine."""

    takes_events = True

    def __init__(
        self, exchange: "Exchange", status: int, headers: HeaderList, machine: StreamMachine
    ) -> None:
        self._exchange = exchange
        self._status = status
        self._headers = headers
        self._machine = machine
        self._told = False
        machine.tally.gap_heard = exchange.gateway.gaps(exchange.understood.request.model)

    def take(self, data: bytes, at: int) -> None:
        """Pass on what the machine lets through."""
        step = self._machine.feed(data, at)
        if step.first_content:
            self._begin(at)
        if step.out:
            self._exchange.send(step.out)
        if step.failure is not None:
            self._failed(step.failure)

    def end(self, at: int) -> None:
        """Whole, or broken off."""
        if self._machine.failure is not None:
            return
        end = self._machine.finish(at)
        if end.kind is EndKind.TRUNCATED:
            if self._exchange.content_sent:
                self._exchange.send(end.tail)
                self._told = True
            self._exchange.fail(FailureKind.TRUNCATED)
            return
        if end.first_content:
            self._begin(at)
        if end.tail:
            self._exchange.send(end.tail)
        self._exchange.finish(self.usage(), at)

    def survives_loss(self) -> bool:
        """An engine that closes rudely after its last event has still said it all."""
        return self._machine.failure is None and self._machine.done

    def usage(self) -> Usage:
        """The engine's own count, or the deltas. What is only read again was metered when it was made."""
        again = self._exchange.understood.replies is Replies.KEPT
        return Usage() if again else self._machine.tally.usage

    def progress(self) -> tuple[int, int]:
        """As counted by the machine."""
        tally = self._machine.tally
        return tally.output_tokens, tally.take_gap()

    def error_shown(self) -> bool:
        """The engine's own error event went through after content, or ours of a stream that ended too early."""
        return self._told or (self._machine.content_sent and self._machine.failure is not None)

    def beat(self) -> None:
        """A comment, which may stand between two events only."""
        if self._machine.at_boundary:
            self._exchange.send(HEARTBEAT)

    def _failed(self, failure: StreamFailure) -> None:
        """An error inside a 200. Before content it is read as the error status that it should have been."""
        exchange = self._exchange
        kind = failure.kind
        if not self._machine.content_sent:
            api = exchange.understood.request.api
            body = error_body(api, failure.status, failure.code, failure.message)
            exchange.reading = ErrorReading(exchange, failure.status, JSON, body)
            kind = kind_of(failure)
        exchange.fail(kind, status=failure.status)

    def _begin(self, at: int) -> None:
        self._exchange.content_began(at)
        self._exchange.start_reply(self._status, sse_headers(self._headers), None)


class WholeReading(Reading):
    """A reply that is kept until it is complete, or passed on as it comes once it is too large or room is short.

    Room is counted together with the bodies of requests. Waiting for room here could wait for itself.
    """

    def __init__(self, exchange: "Exchange", status: int, headers: HeaderList) -> None:
        self._exchange = exchange
        self._status = status
        self._headers = headers
        self._parts: list[bytes] = []
        self._size = 0
        self._passing = False

    def take(self, data: bytes, at: int) -> None:
        """Keep it, or pass it on once it has grown too large to keep."""
        if self._passing:
            self._exchange.send(data)
            return
        exchange, budget = self._exchange, self._exchange.gateway.budget
        self._parts.append(data)
        self._size += len(data)
        budget.take(len(data))
        # A reply whose model must be renamed has to be seen whole, unless it is too large for that.
        if self._size > MAX_WHOLE_BYTES or (budget.full and not exchange.renames):
            self._passing = True
            exchange.content_began(at)
            exchange.start_reply(self._status, response_headers(self._headers), None)
            exchange.send(b"".join(self._parts))
            self.drop()

    def drop(self) -> None:
        """Give back the room of what was kept."""
        if self._size:
            self._exchange.gateway.budget.give(self._size)
            self._parts.clear()
            self._size = 0

    def end(self, at: int) -> None:
        """Read what it says, restore the model's name, and send it."""
        exchange = self._exchange
        if self._passing:
            exchange.finish(Usage(), at)
            return
        request = exchange.understood.request
        body = b"".join(self._parts)
        whole = read_reply(
            exchange.understood.replies,
            body,
            request.model,
            rename=exchange.renames,
            responses=_responses(exchange),
        )
        if whole.failure is not None:
            self.drop()
            exchange.reading = ErrorReading(exchange, whole.failure.status, self._headers, whole.body)
            exchange.fail(kind_of(whole.failure), status=whole.failure.status)
            return
        exchange.respond(self._status, response_headers(self._headers), whole.body)
        exchange.finish(whole.usage, at)


class PassingReading(Reading):
    """A reply that is passed on as it comes: sound, and what else no one here reads."""

    def __init__(self, exchange: "Exchange", status: int, headers: HeaderList) -> None:
        self._exchange = exchange
        self._status = status
        self._headers = headers

    def take(self, data: bytes, at: int) -> None:
        """Pass it on. Its first bytes commit the reply."""
        self._begin(at)
        self._exchange.send(data)

    def end(self, at: int) -> None:
        """Whole, as far as HTTP can tell."""
        self._begin(at)
        self._exchange.finish(Usage(), at)

    def _begin(self, at: int) -> None:
        if not self._exchange.content_sent:
            self._exchange.content_began(at)
            self._exchange.start_reply(self._status, response_headers(self._headers), None)


class ErrorReading(Reading):
    """An error status. It is kept, in case the conductor says that the client shall see it."""

    def __init__(self, exchange: "Exchange", status: int, headers: HeaderList, body: bytes = b"") -> None:
        self.status = status
        self.headers = response_headers(headers)
        self._exchange = exchange
        self._parts = [body]
        self._size = len(body)

    def take(self, data: bytes, at: int) -> None:  # noqa: ARG002 - the shape of Reading
        """Keep an explanation's worth."""
        if self._size < MAX_ERROR_BYTES:
            self._parts.append(data)
            self._size += len(data)

    def end(self, at: int) -> None:  # noqa: ARG002 - the shape of Reading
        """Tell the conductor."""
        wish = retry_after_us(self.headers)
        self._exchange.fail(failure_of(self.status), status=self.status, retry_after_us=wish)

    def body(self) -> bytes:
        """What the engine said."""
        return b"".join(self._parts)


def kind_of(failure: StreamFailure) -> FailureKind:
    """What an error inside a 200, before any content, says of the attempt: the same as the status it should have had."""
    return failure.kind if failure.status >= FIRST_SERVER_STATUS else failure_of(failure.status)


def failure_of(status: int) -> FailureKind:
    """What an HTTP error status says of the attempt: whose fault it is."""
    if status == TOO_MANY_REQUESTS:
        return FailureKind.RATE_LIMITED
    if status >= FIRST_SERVER_STATUS or status == REQUEST_TIMEOUT:
        return FailureKind.SERVER_STATUS
    return FailureKind.CLIENT_STATUS


def reading_of(exchange: "Exchange", status: int, headers: HeaderList) -> Reading:
    """The way to read a reply with this head."""
    if status >= FIRST_ERROR_STATUS:
        return ErrorReading(exchange, status, headers)
    if value_of(headers, b"content-type").lower().startswith(b"text/event-stream"):
        return StreamReading(exchange, status, headers, _machine(exchange))
    if exchange.understood.replies is Replies.BYTES and not _is_json(headers):
        return PassingReading(exchange, status, headers)
    return WholeReading(exchange, status, headers)


def _is_json(headers: HeaderList) -> bool:
    return value_of(headers, b"content-type").lower().startswith(b"application/json")


def _machine(exchange: "Exchange") -> StreamMachine:
    request, replies = exchange.understood.request, exchange.understood.replies
    if replies is Replies.MESSAGES:
        return AnthropicStream(request.model, rename=exchange.renames)
    if replies is not Replies.CHUNKS:
        return TypedStream(
            request.api, request.model, rename=exchange.renames, responses=_responses(exchange)
        )
    return OpenAIStream(
        request.api,
        request.model,
        rename=exchange.renames,
        usage_wanted=request.usage_wanted,
        choices=exchange.understood.edits.choices,
    )


def _responses(exchange: "Exchange") -> ResponseRestorer | None:
    """Restores response objects, for the APIs that tell their ids."""
    if exchange.understood.replies not in {Replies.RESPONSES, Replies.KEPT}:
        return None
    request = exchange.understood.request
    return ResponseRestorer(exchange.sealed_id, request.model if exchange.renames else None)
