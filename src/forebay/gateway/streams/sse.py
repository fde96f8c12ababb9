"""Cuts a stream of server-sent events into whole events, wherever the network cut it.

The format is the WHATWG HTML standard's: lines end in LF, CRLF or CR, and an empty line ends an event. Bytes are never
decoded here, so that a character split over two reads stays whole.
"""

import re

import msgspec

# An event's end: an empty line after a line's end. CRLF CRLF ends in LF CRLF, CRLF LF in LF LF.
_END = re.compile(rb"\n\n|\n\r\n|\r\r")
_LONGEST_END = 3
_DATA_NAMES = frozenset([b"data", b"error"])


class EventTooLargeError(ValueError):
    """An event has passed the bound before its end was seen."""


class SseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds on an engine's stream.

    `max_event_bytes`: the largest event, default 4 MiB. The largest that engines send are logprobs of long chunks and
    tool arguments in one piece, some hundred KiB; audio deltas reach 1 MiB.
    """

    max_event_bytes: int = 4 * 1024 * 1024


DEFAULTS = SseSettings()


class EventSplitter:
    """Feed it reads, get whole events with their ending empty line, in order. Joined, they are the input's bytes."""

    __slots__ = ("_max_event_bytes", "_pending")

    def __init__(self, settings: SseSettings = DEFAULTS) -> None:
        self._pending = bytearray()
        self._max_event_bytes = settings.max_event_bytes

    @property
    def rest(self) -> bytes:
        """What came after the last whole event: the beginning of the next."""
        return bytes(self._pending)

    def feed(self, data: bytes) -> list[bytes]:
        """The events that this read completes. Raises EventTooLargeError, after which the splitter is of no use."""
        # One read that is one event is the common case, and needs no copy.
        if not self._pending and data.find(b"\n\n") == len(data) - 2 and b"\r" not in data and len(data) > 2:
            return [data]
        return self._cut(data)

    def _cut(self, data: bytes) -> list[bytes]:
        pending = self._pending
        search_from = max(0, len(pending) - _LONGEST_END + 1)
        pending += data
        events: list[bytes] = []
        start = 0
        while end := _END.search(pending, search_from):
            search_from = end.end()
            events.append(bytes(pending[start:search_from]))
            start = search_from
        del pending[:start]
        if len(pending) > self._max_event_bytes:
            raise EventTooLargeError(f"an event of more than {self._max_event_bytes} bytes")
        return events


def payload_of(event: bytes) -> bytes | None:
    """The joined `data` lines of an event; None when it has none, as a comment has. Ends may be padded by whitespace.

    llama.cpp has sent errors under the field name `error`: it is read as data.
    """
    if event.startswith(b"data:") and event.find(b"\n") == len(event) - 2 and b"\r" not in event:
        return event[5:]
    data = [line.partition(b":")[2].removeprefix(b" ") for line in event.splitlines() if _is_data(line)]
    return b"\n".join(data) if data else None


def with_payload(event: bytes, payload: bytes, replacement: bytes) -> bytes:
    """The event with its data, which is the JSON `payload`, replaced. Other lines and the ending stay."""
    if payload in event:
        return event.replace(payload, replacement, 1)
    others = [line for line in event.splitlines() if line and not _is_data(line)]
    data = [b"data: " + line for line in replacement.split(b"\n")]
    return b"\n".join([*others, *data]) + b"\n\n"


def _is_data(line: bytes) -> bool:
    return line.partition(b":")[0] in _DATA_NAMES
