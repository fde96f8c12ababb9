"""What a driver asks of the side that faces clients and engines."""

from typing import Protocol

from forebay.conductor.commands import Abort, Command, Dispatch, Hold, Reject
from forebay.conductor.events import Event
from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision


class Front(Protocol):
    """Carries out the conductor's commands: the gateway, the endpoint picker, or the simulator."""

    def dispatch(self, command: Dispatch) -> None:
        """Send the attempt to its endpoint."""
        ...

    def hold(self, command: Hold) -> None:
        """Keep the request waiting."""
        ...

    def reject(self, command: Reject) -> None:
        """Answer the client, for the last time."""
        ...

    def abort(self, command: Abort) -> None:
        """Close the attempt's connection, silently."""
        ...


class Mind(Protocol):
    """Decides: a conductor, or one with something about it."""

    def handle(self, event: Event) -> list[Command]:
        """What to do about `event`, in order."""
        ...


class Observer(Protocol):
    """Told of decisions and outcomes; may be absent, and must never raise into the path."""

    def decided(self, decision: Decision) -> None:
        """One placement was made."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """One request is over."""
        ...
