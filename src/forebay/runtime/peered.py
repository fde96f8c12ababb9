"""A conductor beside others: it learns what they have before it decides, and tells them what it has."""

from forebay.conductor.commands import Command
from forebay.conductor.conductor import Conductor
from forebay.conductor.events import Arrived, Event, Failed, PeersChanged, PlanChanged, Woke
from forebay.runtime.front import Mind
from forebay.runtime.ledger import OtherRows

# Events that place a request. Before each of them the peers are looked at, so that bounds hold over all workers.
PLACING = frozenset({Arrived, Failed, Woke, PlanChanged})
# Before any other event, news may be so old.
AGE_US = 5_000


class Peered:
    """`mind` is `conductor` itself, or what records its events."""

    def __init__(self, mind: Mind, conductor: Conductor, others: OtherRows) -> None:
        self._mind = mind
        self._conductor = conductor
        self._others = others
        self._looked_at = 0
        self._slots = _width(conductor)
        # Counters are told from here on; loads that are there already, with the first event.
        self._before = others.news(self._slots)

    def handle(self, event: Event) -> list[Command]:
        """The commands that news of the peers brings about, if there is any, and then those of the event."""
        kind = type(event)
        news: list[Command] = []
        if kind in PLACING or event.at - self._looked_at > AGE_US or self._conductor.holding:
            news = self.hear(event.at)
        commands = self._mind.handle(event)
        if kind is PlanChanged:
            self._slots = _width(self._conductor)
        return news + commands

    def hear(self, at: int) -> list[Command]:
        """Look at the peers."""
        self._looked_at = at
        loads, self._before = self._before + self._others.news(self._slots), ()
        return self._mind.handle(PeersChanged(at, loads)) if loads else []


def _width(conductor: Conductor) -> int:
    return 1 + max((slot for pool in conductor.pools.values() for slot in pool.slots()), default=0)
