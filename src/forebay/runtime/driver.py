"""The live driver: one conductor, one front, the loop's clock."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from forebay.conductor.commands import Abort, Command, Dispatch, Hold, Note, Publish, Reject, WakeAt
from forebay.conductor.events import Event, Woke
from forebay.domain.load import Load
from forebay.domain.outcome import Outcome
from forebay.runtime.front import Front, Mind, Observer

log = logging.getLogger(__name__)


def monotonic_us() -> int:
    """Microseconds of the machine's monotonic clock."""
    return time.monotonic_ns() // 1000


class Driver:
    """Feeds events to the conductor one at a time and carries out what it answers, in order.

    A front may feed further events while it carries out a command; they wait for their turn, so that the conductor is
    never re-entered.
    """

    def __init__(
        self,
        conductor: Mind,
        observer: Observer,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], int] = monotonic_us,
        publish: Callable[[Load], None] | None = None,
    ) -> None:
        """`observer` hears every Note, and `publish` tells the other workers of a load; without, there are none.

        The front is given later, by `attach`, since it needs the driver itself.
        """
        self.conductor = conductor
        self.clock = clock
        self._observer = observer
        self._publish = publish
        self._loop = loop
        self._events: deque[Event] = deque()
        self._busy = False
        self._wake: asyncio.TimerHandle | None = None
        self._acts: dict[type[Command], Callable[[Any], None]]

    def attach(self, front: Front) -> None:
        """Name the front that carries out commands. Must come before the first event."""
        self._acts = {
            Note: self._note,
            Dispatch: front.dispatch,
            Reject: front.reject,
            Abort: front.abort,
            Hold: front.hold,
            WakeAt: self._wake_at,
            Publish: self._tell_peers,
        }

    def feed(self, event: Event) -> None:
        """Tell the conductor, and do what it says."""
        self._events.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while self._events:
                for command in self.conductor.handle(self._events.popleft()):
                    self._carry_out(command)
        finally:
            self._busy = False

    def _carry_out(self, command: Command) -> None:
        """One command that fails must not take the later ones with it: a wake-up, or another request's answer."""
        try:
            self._acts[type(command)](command)
        except Exception:
            log.exception("a command could not be carried out: %s", type(command).__name__)

    def close(self) -> None:
        """Drop the pending wake-up."""
        if self._wake is not None:
            self._wake.cancel()

    def _note(self, note: Note) -> None:
        if isinstance(note.subject, Outcome):
            self._observer.ended(note.subject)
        else:
            self._observer.decided(note.subject)

    def _tell_peers(self, command: Publish) -> None:
        if self._publish is not None:
            self._publish(command.load)

    def _wake_at(self, command: WakeAt) -> None:
        if self._wake is not None:
            self._wake.cancel()
        delay = max(0, command.at - self.clock()) / 1e6
        self._wake = self._loop.call_later(delay, self._woke)

    def _woke(self) -> None:
        self._wake = None
        self.feed(Woke(self.clock()))
