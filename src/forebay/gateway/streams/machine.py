"""What every streamed reply shares: hold back until first content, pass bytes unchanged, count, end properly."""

import enum
from abc import ABC, abstractmethod

import msgspec

from forebay.domain.outcome import FailureKind
from forebay.domain.request import Api
from forebay.gateway.streams.errors import error_event
from forebay.gateway.streams.sse import DEFAULTS, EventSplitter, EventTooLargeError, SseSettings, payload_of
from forebay.gateway.streams.tally import Tally
from forebay.gateway.streams.typical import TypicalEvents


class StreamFailure(msgspec.Struct, frozen=True, gc=False):
    """The engine's stream cannot go on: an error event (STREAM_ERROR) or an event past all bounds (PROTOCOL).

    `status` is 400..599: what the reply's status would have been, had the error come before it.
    """

    kind: FailureKind
    status: int
    code: str
    message: str


class Step(msgspec.Struct, frozen=True, gc=False):
    """What one read asks for. `out` goes to the client now and always ends between two events.

    `first_content` is True once: from here on the attempt cannot be retried. With `failure` the stream is over; before
    first content `out` is then empty.
    """

    out: bytes
    first_content: bool = False
    failure: StreamFailure | None = None


class EndKind(enum.Enum):
    """How a stream without an error event ended."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"


class End(msgspec.Struct, frozen=True, gc=False):
    """The end of the engine's bytes. `tail` are the last bytes for the client.

    A truncated stream whose content has begun gets an error event as its tail; one whose content has not gets nothing,
    since it may be tried again.
    """

    kind: EndKind
    tail: bytes
    first_content: bool = False


_NOTHING = Step(b"")


class StreamMachine(ABC):
    """One attempt's stream. Feed it reads as they come, then `finish` when the engine's bytes end.

    Bytes pass unchanged, whole events at a time, so that between two outputs there is always room for a comment. Until
    the first content nothing passes: a preamble of an attempt that then fails is never seen by the client. `done` tells
    that the API's last event came.
    """

    api: Api

    def __init__(self, client_model: str, *, rename: bool, settings: SseSettings = DEFAULTS) -> None:
        """`client_model` is the name that the client wrote; `rename` tells that the engine knows another one."""
        self.tally = Tally()
        self.content_sent = False
        self.done = False
        self.failure: StreamFailure | None = None
        self._client_model = client_model
        self._rename = rename
        self._splitter = EventSplitter(settings)
        self._max_held_bytes = settings.max_event_bytes
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._is_content = False
        self._typical = TypicalEvents()

    @property
    def at_boundary(self) -> bool:
        """Whether a comment may be sent to the client now: content has begun, and whole events were passed."""
        return self.content_sent and self.failure is None

    def feed(self, data: bytes, at: int) -> Step:
        """Take one read. `at` is its moment in microseconds."""
        if self.failure is not None:
            return _NOTHING
        try:
            events = self._splitter.feed(data)
        except EventTooLargeError as fault:
            return self._broken(str(fault))
        tally = self.tally
        deltas = tally.deltas
        begun = self.content_sent
        out = self._pass_on(events[0], at) if len(events) == 1 else self._pass_all(events, at)
        if tally.deltas != deltas:
            tally.heard(at)
        if begun and self.failure is None:
            return Step(out)
        return Step(out, self.content_sent and not begun, self.failure)

    def finish(self, at: int) -> End:
        """The engine's bytes are over, cleanly or not. Not to be called after a failure."""
        begun = self.content_sent
        out = self._last_words(at)
        if self.failure is None and self._is_whole():
            self.content_sent = True
            tail = b"".join(self._held) + out + self._closing()
            return End(EndKind.COMPLETE, tail, not begun)
        if not self.content_sent:
            return End(EndKind.TRUNCATED, b"")
        return End(EndKind.TRUNCATED, out + self.truncation_event(), not begun)

    def truncation_event(self) -> bytes:
        """The error event that tells a client that the answer is only half."""
        message = "the engine's stream ended before the answer was whole"
        return error_event(self.api, 502, "upstream_truncated", message, kind="upstream_truncated")

    @abstractmethod
    def _read(self, event: bytes, payload: bytes, at: int) -> bytes:
        """Account for one event with data. Returns what the client is to see of it.

        Sets `_is_content` when a client would miss it, and `failure` when it is an error.
        """

    @abstractmethod
    def _is_whole(self) -> bool:
        """Whether the engine has said all that it had to say."""

    @abstractmethod
    def _closing(self) -> bytes:
        """The last event that the API demands, if the engine left it out."""

    def _pass_all(self, events: list[bytes], at: int) -> bytes:
        out = []
        for event in events:
            out.append(self._pass_on(event, at))
            if self.failure is not None:
                break
        return b"".join(out)

    def _pass_on(self, event: bytes, at: int) -> bytes:
        typical = self._typical.current
        if typical is not None and (shown := typical.shown(event)) is not None:
            self._typical.hits += 1
            self.tally.count_piece(typical.is_reasoning)
            return shown
        return self._pass_parsed(event, at)

    def _pass_parsed(self, event: bytes, at: int) -> bytes:
        payload = payload_of(event)
        shown = event if payload is None else self._read(event, payload, at)
        if self.content_sent:
            return shown
        if self.failure is not None:
            return b""
        if not self._is_content:
            self._hold(shown)
            return b""
        self.content_sent = True
        shown = b"".join(self._held) + shown
        self._held.clear()
        return shown

    def _hold(self, shown: bytes) -> None:
        self._held.append(shown)
        self._held_bytes += len(shown)
        if self._held_bytes > self._max_held_bytes:
            self._broken(f"more than {self._max_held_bytes} bytes before the first content")

    def _broken(self, message: str) -> Step:
        self.failure = StreamFailure(FailureKind.PROTOCOL, 502, "upstream_protocol_error", message)
        return Step(b"", failure=self.failure)

    def _last_words(self, at: int) -> bytes:
        """A last event whose empty line was left out counts if it can be read."""
        rest = self._splitter.rest
        payload = payload_of(rest)
        if payload is None or self.failure is not None or not self._is_readable(payload):
            return b""
        deltas = self.tally.deltas
        out = self._pass_on(rest + (b"\n" if rest.endswith(b"\n") else b"\n\n"), at)
        if self.tally.deltas != deltas:
            self.tally.heard(at)
        return out

    @abstractmethod
    def _is_readable(self, payload: bytes) -> bool:
        """Whether this is a whole event's data."""
