"""Several conductors of one gateway, for tests: what one publishes, all others know before their next event."""

from forebay.conductor.commands import Command, Publish
from forebay.conductor.conductor import Conductor
from forebay.conductor.events import Event, PeersChanged
from forebay.conductor.plan import Plan
from forebay.domain.load import Load, together


class Crew:
    """`tell(worker, event)` is `conductors[worker].handle(event)`, after the news of its peers.

    `told` is what each has published, by slot.
    """

    def __init__(self, plan: Plan, workers: int, seed: int = 0) -> None:
        """Start so many conductors with `plan`, at 0."""
        self.conductors = [
            Conductor(plan, seed=seed, worker=worker, workers=workers) for worker in range(workers)
        ]
        self.told: list[dict[int, Load]] = [{} for _ in range(workers)]
        self._heard: list[dict[int, Load]] = [{} for _ in range(workers)]

    def tell(self, worker: int, event: Event) -> list[Command]:
        """What that conductor commands, news of its peers included, but not what it publishes."""
        return [*self.hear(worker, event.at), *self.act(worker, event)]

    def hear(self, worker: int, at: int) -> list[Command]:
        """Only the news of the peers, when there is any."""
        others = [told for index, told in enumerate(self.told) if index != worker]
        slots = sorted({slot for told in others for slot in told})
        heard = {slot: together(slot, [told[slot] for told in others if slot in told]) for slot in slots}
        news = tuple(load for slot, load in heard.items() if self._heard[worker].get(slot) != load)
        self._heard[worker] = heard
        return self.act(worker, PeersChanged(at, news)) if news else []

    def act(self, worker: int, event: Event) -> list[Command]:
        """Only the event, by what the conductor has heard so far."""
        commands = self.conductors[worker].handle(event)
        for command in commands:
            if isinstance(command, Publish):
                self.told[worker][command.load.slot] = command.load
        return [command for command in commands if not isinstance(command, Publish)]

    def in_flight(self, slot: int) -> int:
        """Requests at the endpoint, of all conductors."""
        return sum(told[slot].in_flight for told in self.told if slot in told)

    def held(self) -> int:
        """Requests that wait, of all conductors."""
        return sum(load.held for told in self.told for load in told.values())
