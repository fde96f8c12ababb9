"""One JSON line per request, written beside the path.

The path only appends to a queue. A thread of its own takes lines from there a few times a second, and may be stuck on a
full pipe or disk for as long as it likes: the queue is bounded, and what does not fit is dropped and counted.

A line never holds text, media, query strings or keys. Words that a client chose are cut, and characters that could
forge lines or drive a terminal are written as escapes.
"""

import contextlib
import functools
import os
import select
import stat
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from forebay.config.errors import ConfigError
from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision
from forebay.telemetry.observer import Passage

MAX_WORD = 256
"""Characters kept of a word that came from outside."""

MAX_OPEN = 65_536
"""Requests remembered between their decision and their passage; twice what one worker's bounds let in."""


MOST_AT_ONCE = 1024 * 1024
"""Bytes of one write to a file."""


class Appendable(Protocol):
    """What lines are written to."""

    def write(self, data: bytes, /) -> int:
        """Append whole lines."""
        ...

    def flush(self) -> None:
        """Let them be seen."""
        ...


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line. Times in milliseconds; None is unknown or never reached."""

    time: str
    request_id: str
    api: str
    model: str
    pool: str | None
    endpoint: str | None
    status: int
    ending: str
    reason: str
    tries: int
    prompt_tokens: int | None
    predicted_prompt_tokens: int | None
    completion_tokens: int | None
    ttft_ms: float | None
    e2e_ms: float
    body_bytes: int
    reply_bytes: int


class _Open(msgspec.Struct, gc=False):
    """What is known of a request whose passage has not been told."""

    decision: Decision | None = None
    outcome: Outcome | None = None


class WholeLines:
    """A file that several processes append lines to: each write is of whole lines, so that none is torn by another's."""

    def __init__(self, descriptor: int) -> None:
        """Write to `descriptor`, which is left open."""
        self._descriptor = descriptor
        # Appends to a file are atomic whatever their size; those to a pipe up to so many bytes only (POSIX).
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._most_bytes = MOST_AT_ONCE if regular else select.PIPE_BUF

    def write(self, data: bytes) -> int:
        """Append whole lines. Raises OSError."""
        begin = 0
        while begin < len(data):
            end = len(data)
            if end - begin > self._most_bytes:
                end = data.rfind(b"\n", begin, begin + self._most_bytes) + 1 or data.index(b"\n", begin) + 1
            begin += os.write(self._descriptor, data[begin:end])
        return begin

    def flush(self) -> None:
        """Nothing is held back."""


def open_stream(path: str, stack: contextlib.ExitStack) -> BinaryIO | None:
    """What `access_log.path` names: `stderr`, `stdout`, a file, or None for `off`. `stack` closes what is opened.

    Raises ConfigError for a file that cannot be written.
    """
    if path == "off":
        return None
    if path in {"stderr", "stdout"}:
        stream: BinaryIO = getattr(sys, path).buffer
        return stream
    try:
        return stack.enter_context(Path(path).open("ab"))
    except OSError as error:
        raise ConfigError("access_log.path", str(error)) from None


class AccessLog:
    """Writes to `stream`, a binary file that `close` leaves open. `now` is seconds since the epoch.

    `dropped` counts lines that found the queue full, `failed` those that the stream refused.
    """

    def __init__(
        self,
        stream: "Appendable",
        *,
        capacity: int = 16_384,
        flush_seconds: float = 0.2,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.dropped = 0
        self.failed = 0
        self._stream = stream
        self._capacity = capacity
        self._flush_seconds = flush_seconds
        self._now = now
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._queue: deque[tuple[float, Passage, _Open | None]] = deque()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="access log", daemon=True)
        self._thread.start()

    def decided(self, decision: Decision) -> None:
        """Remember the newest decision of the request."""
        self._entry(decision.request_id).decision = decision

    def ended(self, outcome: Outcome) -> None:
        """Remember how it ended."""
        self._entry(outcome.request_id).outcome = outcome

    def served(self, passage: Passage) -> None:
        """Queue the request's line."""
        entry = self._open.pop(passage.request_id, None)
        if len(self._queue) >= self._capacity:
            self.dropped += 1
        else:
            self._queue.append((self._now(), passage, entry))

    def close(self, patience_seconds: float = 2.0) -> None:
        """Write what is queued and stop. A stream that is stuck for longer than `patience_seconds` is abandoned."""
        self._closing.set()
        self._thread.join(patience_seconds)

    def _entry(self, request_id: str) -> _Open:
        entry = self._open.get(request_id)
        if entry is None:
            entry = self._open[request_id] = _Open()
            if len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
        return entry

    def _run(self) -> None:
        while not self._closing.wait(self._flush_seconds):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        lines = []
        # Only what is there now: under a flood, one write must not grow for ever.
        for _ in range(len(self._queue)):
            when, passage, entry = self._queue.popleft()
            lines.append(msgspec.json.encode(line(when, passage, entry)))
        if not lines:
            return
        try:
            self._stream.write(b"\n".join(lines) + b"\n")
            self._stream.flush()
        except (OSError, ValueError):
            # ValueError: the stream was closed under us.
            self.failed += len(lines)


def line(when: float, passage: Passage, entry: _Open | None) -> Line:
    """Return the line for a passage. Without an entry, the request was refused before it was understood."""
    decision = entry.decision if entry is not None else None
    outcome = entry.outcome if entry is not None else None
    usage = outcome.usage if outcome is not None else None
    return Line(
        time=f"{_second(int(when))}.{int(when * 1000) % 1000:03d}Z",
        request_id=tame(passage.request_id),
        api=tame(passage.api.partition("?")[0]),
        model=tame(passage.model),
        pool=decision.pool if decision is not None else None,
        endpoint=(outcome.endpoint or None) if outcome is not None else None,
        status=passage.status,
        ending=outcome.ending.value if outcome is not None else "refused",
        reason=tame((outcome.reason if outcome is not None else "") or passage.reason),
        tries=outcome.tries if outcome is not None else 0,
        prompt_tokens=usage.prompt_tokens if usage is not None and usage.reported else None,
        predicted_prompt_tokens=decision.prompt_tokens if decision is not None else None,
        completion_tokens=usage.completion_tokens if usage is not None else None,
        ttft_ms=outcome.ttft_us / 1000 if outcome is not None and outcome.ttft_us else None,
        e2e_ms=(outcome.e2e_us if outcome is not None else passage.duration_us) / 1000,
        body_bytes=passage.body_bytes,
        reply_bytes=passage.reply_bytes,
    )


@functools.lru_cache(maxsize=8)
def _second(when: int) -> str:
    # Formatting a date costs as much as all the rest of a line, and a busy second has thousands of lines.
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def tame(word: str) -> str:
    """Cut a word from outside, and escape what is not printable: controls, line separators, bidirectional marks."""
    cut = word[:MAX_WORD]
    if cut.isprintable():
        return cut
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in cut)
