"""Transcripts for a conductor: `play(conductor) >> Arrived(...) << Dispatch(...)`."""

from collections import deque
from typing import Self

from forebay.conductor.commands import Command, Note, WakeAt
from forebay.conductor.conductor import Conductor
from forebay.conductor.events import Event
from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision


class Playbook:
    """Feeds events with `>>` and expects commands, in order, with `<<`.

    `<< Dispatch` expects a command of that type, `<< Dispatch(...)` an equal one, `<< None` that nothing is left.
    Notes and WakeAts are kept apart, in `decisions`, `outcomes` and `wake_at`, since most transcripts are not about
    them. Before each new event every earlier command must have been expected.
    """

    def __init__(self, conductor: Conductor) -> None:
        """Play against `conductor`."""
        self.conductor = conductor
        self.decisions: list[Decision] = []
        self.outcomes: list[Outcome] = []
        self.wake_at: int | None = None
        self.last: Command | None = None
        self._pending: deque[Command] = deque()

    def __rshift__(self, event: Event) -> Self:
        if self._pending:
            raise AssertionError(f"before {event}: not expected: {list(self._pending)}")
        for command in self.conductor.handle(event):
            self._sort(command)
        return self

    def __lshift__(self, expected: type[Command] | Command | None) -> Self:
        if expected is None:
            if self._pending:
                raise AssertionError(f"nothing was expected, but got {list(self._pending)}")
            return self
        if not self._pending:
            raise AssertionError(f"expected {expected}, but no command is left")
        self.last = self._pending.popleft()
        matches = isinstance(self.last, expected) if isinstance(expected, type) else self.last == expected
        if not matches:
            raise AssertionError(f"expected {expected}, got {self.last}")
        return self

    def _sort(self, command: Command) -> None:
        if isinstance(command, WakeAt):
            self.wake_at = command.at
        elif not isinstance(command, Note):
            self._pending.append(command)
        elif isinstance(command.subject, Outcome):
            self.outcomes.append(command.subject)
        else:
            self.decisions.append(command.subject)


def play(conductor: Conductor) -> Playbook:
    """Open a transcript against `conductor`."""
    return Playbook(conductor)
