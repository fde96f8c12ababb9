"""Who is told, of what, and the fan-out that keeps a faulty listener from harming traffic."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision


class Passage(msgspec.Struct, frozen=True, gc=False):
    """One client request as the wire saw it, refused ones included.

    `api` is the path without its query, `status` what the client was sent (499 if it left before), `reason` the error
    code of a refusal, `body_bytes` what it sent and `reply_bytes` what it got, bodies only.
    """

    request_id: str
    api: str
    model: str
    status: int
    body_bytes: int
    reply_bytes: int
    duration_us: int
    reason: str = ""


class Observer(Protocol):
    """Listens. Must return at once."""

    def decided(self, decision: Decision) -> None:
        """One placement of one attempt was made."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """A request that had arrived at the conductor is over. Told once per request."""
        ...

    def served(self, passage: Passage) -> None:
        """The client's reply is over. Told once per request, after its `ended` if it has one."""
        ...


class Observers:
    """Tells each observer in turn. An error in one is counted and swallowed: telemetry never harms traffic."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)
        self.errors = 0

    def decided(self, decision: Decision) -> None:
        """Pass on a decision."""
        for observer in self._observers:
            try:
                observer.decided(decision)
            except Exception:  # noqa: BLE001 - whatever goes wrong in there must stay there
                self.errors += 1

    def ended(self, outcome: Outcome) -> None:
        """Pass on an outcome."""
        for observer in self._observers:
            try:
                observer.ended(outcome)
            except Exception:  # noqa: BLE001 - whatever goes wrong in there must stay there
                self.errors += 1

    def served(self, passage: Passage) -> None:
        """Pass on a passage."""
        for observer in self._observers:
            try:
                observer.served(passage)
            except Exception:  # noqa: BLE001 - whatever goes wrong in there must stay there
                self.errors += 1
