"""How long something took where it ran: on this processor, or on a device that works behind its back."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

Tell = Callable[[float], None]

DRAIN_SECONDS = 1.0
"""A device's times are read this long after at the latest, when no further call comes to read them."""


class Event(Protocol):
    """A mark in a device's stream of work, as torch has it."""

    def record(self) -> None:
        """Put the mark behind all that was queued so far."""
        ...

    def query(self) -> bool:
        """Whether the device has passed it."""
        ...

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this mark to `end`, both passed."""
        ...


class HostClock:
    """For an encoder that runs where Python does."""

    @contextmanager
    def measure(self, tell: Tell) -> Iterator[None]:
        """Tell the seconds that the block takes."""
        began = time.perf_counter()
        yield
        tell(time.perf_counter() - began)


class DeviceClock:
    """For an encoder whose work is only queued: marks are set around it, and read when the device has passed them."""

    def __init__(self, event: Callable[[], Event], drain_seconds: float = DRAIN_SECONDS) -> None:
        """`event` makes a mark that can be timed."""
        self._event = event
        self._drain_seconds = drain_seconds
        self._waiting: deque[tuple[Event, Event, Tell]] = deque()
        self._lock = threading.Lock()
        self._drainer: threading.Timer | None = None

    @contextmanager
    def measure(self, tell: Tell) -> Iterator[None]:
        """Tell, some time later, the seconds that the device spends on what the block queues."""
        self.drain()
        began, ended = self._event(), self._event()
        began.record()
        yield
        ended.record()
        with self._lock:
            self._waiting.append((began, ended, tell))
        self._drain_later()

    def drain(self) -> None:
        """Tell what has passed by now."""
        with self._lock:
            while self._waiting and self._waiting[0][1].query():
                began, ended, tell = self._waiting.popleft()
                tell(began.elapsed_time(ended) / 1000)

    def _drain_later(self) -> None:
        if self._drainer is None:
            self._drainer = threading.Timer(self._drain_seconds, self._drained)
            self._drainer.daemon = True
            self._drainer.start()

    def _drained(self) -> None:
        self._drainer = None
        self.drain()
        if self._waiting:
            self._drain_later()


Clock = HostClock | DeviceClock


def clock_of_this_machine() -> Clock:
    """By torch's word on where the work runs."""
    import torch

    if torch.accelerator.is_available():
        return DeviceClock(lambda: torch.Event(enable_timing=True))
    return HostClock()
