"""The driver in virtual time: a heap of moments, the modelled fleet, and the conductor that rules the live gateway.

What a live driver does with a clock, sockets and timers is done here with the heap. Nothing is left to chance: with the same
seeds the same things happen, to the last bit.
"""

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from forebay.conductor.commands import Abort, Command, Dispatch, Hold, Note, Publish, Reject, WakeAt
from forebay.conductor.conductor import Conductor
from forebay.conductor.events import (
    Arrived,
    Event,
    Failed,
    Finished,
    FirstToken,
    PeersChanged,
    Progress,
    ViewChanged,
    Woke,
)
from forebay.domain.load import Load, together
from forebay.domain.outcome import FailureKind, Usage
from forebay.simulator.engine.job import Job
from forebay.simulator.replica import Replica, Run
from forebay.simulator.visits import Story, Visit

SECOND_US = 1_000_000

Act: TypeAlias = Callable[[], None]
Incident: TypeAlias = Callable[["World"], None]


@dataclass(frozen=True)
class Overheads:
    """Seconds that an engine spends beside its steps: before the first token, for each output token, once for each request.

    The defaults are those of vLLM's API server, measured.
    """

    first_token: float = 15.6e-3
    output_token: float = 46e-6
    request: float = 0.78e-3


NO_OVERHEADS = Overheads(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class WorldSettings:
    """How the world runs. Seconds.

    `signals_seconds` is how often each endpoint is scraped, as the live eyes do. `progress_seconds` is how often the gateway tells
    how its streams go on. `peers_seconds` is how old the other gateways' deltas are when they arrive. `occupancy_seconds` is how
    often the KV caches are looked at for the report.
    """

    signals_seconds: float = 0.5
    progress_seconds: float = 1.0
    peers_seconds: float = 0.010
    occupancy_seconds: float = 1.0
    overheads: Overheads = Overheads()


DEFAULTS = WorldSettings()


class World:
    """Mutable, run once."""

    def __init__(
        self,
        replicas: Sequence[Replica],
        conductors: Sequence[Conductor],
        visits: Sequence[Visit],
        settings: WorldSettings = DEFAULTS,
        *,
        clients: int = 0,
    ) -> None:
        """Each of `conductors` is a gateway; visits go to them in turn.

        With `clients` the loop is closed: so many clients come, each again as soon as it is served.
        """
        self.now = 0.0
        self.replicas = {replica.endpoint.slot: replica for replica in replicas}
        self.stories: list[Story] = []
        # Of each endpoint's KV cache, in 0..1 of its capacity (NaN while it is not there), and requests that gateways have
        # there, at each look.
        self.occupancy: list[tuple[float, list[float]]] = []
        self.in_flight: list[tuple[float, list[int]]] = []
        self._conductors = conductors
        self._visits = visits
        self._settings = settings
        self._clients = clients
        self._heap: list[tuple[float, int, Act]] = []
        self._order = itertools.count()
        self._next = 0
        self._open = 0
        self._wakes = [0] * len(conductors)
        self._told: list[dict[int, Load]] = [{} for _ in conductors]
        self._queue: deque[tuple[int, Event]] = deque()
        self._busy = False
        self._acts: dict[type[Command], Callable[[int, Any], None]] = {
            Dispatch: self._dispatch,
            Reject: self._reject,
            Abort: self._abort,
            WakeAt: self._wake_at,
            Publish: self._publish,
            Hold: _ignore,
            Note: _ignore,
        }

    @property
    def over(self) -> bool:
        """Whether every visit has come and ended."""
        return self._next >= len(self._visits) and not self._open

    def at(self, moment: float, act: Act) -> None:
        """Let something happen at `moment`. What is planned first happens first."""
        heapq.heappush(self._heap, (moment, next(self._order), act))

    def run(self, tell: Callable[[int, int], None] | None = None) -> list[Story]:
        """Until every visit has ended. `tell` hears now and then of how many have, of how many."""
        self._begin()
        stories, total = self.stories, len(self._visits)
        told = 0
        while self._heap and not self.over:
            self.now, _, act = heapq.heappop(self._heap)
            act()
            if tell is not None and self._next - self._open - told >= 1000:
                told = self._next - self._open
                tell(told, total)
        return stories

    # --- incidents

    def slow_down(self, slot: int, factor: float) -> None:
        """From its next step on an engine takes `factor` times as long."""
        replica = self.replicas[slot]
        replica.engine.slow_down(factor, self.now)
        self._await_engine(replica)

    def join(self, slot: int) -> None:
        """A replica that was declared and not yet there answers from now on, with empty caches."""
        self.replicas[slot].alive = True

    def lose(self, slot: int) -> None:
        """A replica dies. Its connections break, and the next scrape finds nobody."""
        for run in self.replicas[slot].lose():
            at = self._us()
            self._feed(run.gateway, Failed(at, run.attempt, FailureKind.RESET, content_sent=run.streams))

    # --- the beginning

    def _begin(self) -> None:
        settings = self._settings
        for number, slot in enumerate(self.replicas):
            phase = number / len(self.replicas)
            self._scrape(slot, again=False)
            self.at(settings.signals_seconds * (phase or 1.0), lambda slot=slot: self._scrape(slot))  # type: ignore[misc]
            self.at(settings.progress_seconds * (phase or 1.0), lambda slot=slot: self._progress(slot))  # type: ignore[misc]
        self.at(settings.occupancy_seconds, self._look)
        if self._clients:
            for _ in range(min(self._clients, len(self._visits))):
                self._arrive()
        else:
            self._await_next()

    def _await_next(self) -> None:
        if self._next < len(self._visits):
            self.at(self._visits[self._next].at, self._arrive_and_await)

    def _arrive_and_await(self) -> None:
        self._arrive()
        self._await_next()

    def _arrive(self) -> None:
        number = self._next
        if number >= len(self._visits):
            return  # others who ended at the same moment took the last ones
        self._next += 1
        self._open += 1
        self.stories.append(Story(number, self.now))
        gateway = number % len(self._conductors)
        self._feed(gateway, Arrived(self._us(), self._visits[number].request))

    # --- what the conductor wants

    def _feed(self, gateway: int, event: Event) -> None:
        """One event at a time: what comes of a command waits for the commands before it."""
        self._queue.append((gateway, event))
        if self._busy:
            return
        self._busy = True
        while self._queue:
            number, first = self._queue.popleft()
            for command in self._conductors[number].handle(first):
                self._acts[type(command)](number, command)
        self._busy = False

    def _dispatch(self, gateway: int, command: Dispatch) -> None:
        number = _number(command.attempt.request_id)
        story = self.stories[number]
        story.tries += 1
        story.sent = self.now
        story.slot = command.endpoint.slot
        replica = self.replicas[story.slot]
        if not replica.alive:
            self._feed(gateway, Failed(self._us(), command.attempt, FailureKind.CONNECT))
            return
        replica.take(Run(gateway, command.attempt, number, self._visits[number]), self.now)
        self._await_engine(replica)

    def _reject(self, gateway: int, command: Reject) -> None:
        del gateway
        story = self.stories[_number(command.request_id)]
        story.refused = command.code
        self._end(story)

    def _abort(self, gateway: int, command: Abort) -> None:
        del gateway
        for replica in self.replicas.values():
            if command.attempt in replica.runs:
                replica.drop(command.attempt, self.now)
                self._await_engine(replica)

    def _wake_at(self, gateway: int, command: WakeAt) -> None:
        self._wakes[gateway] = command.at
        self.at(max(self.now, command.at / SECOND_US), lambda: self._wake(gateway, command.at))

    def _wake(self, gateway: int, wanted: int) -> None:
        if self._wakes[gateway] == wanted:
            self._feed(gateway, Woke(max(wanted, self._us())))

    def _publish(self, gateway: int, command: Publish) -> None:
        self.at(self.now + self._settings.peers_seconds, lambda: self._hear(gateway, command.load))

    def _hear(self, gateway: int, load: Load) -> None:
        """The delta of one gateway reaches the others."""
        self._told[gateway][load.slot] = load
        for other in range(len(self._conductors)):
            if other != gateway:
                rest = (
                    told[load.slot]
                    for who, told in enumerate(self._told)
                    if who != other and load.slot in told
                )
                self._feed(other, PeersChanged(self._us(), (together(load.slot, rest),)))

    # --- what engines do

    def _await_engine(self, replica: Replica) -> None:
        due = replica.engine.due
        if due < math.inf:
            self.at(due, lambda: self._step(replica, due))

    def _step(self, replica: Replica, due: float) -> None:
        if not replica.alive or replica.engine.due != due:
            return
        happened = replica.happen()
        overheads = self._settings.overheads
        for job in happened.first:
            self.at(self.now + overheads.first_token, lambda run=job.key: self._first_token(run))  # type: ignore[misc]
        for job in happened.ended:
            spent = overheads.first_token + overheads.output_token * job.output_tokens + overheads.request
            self.at(self.now + spent, lambda job=job: self._finished(job))  # type: ignore[misc]
        self._await_engine(replica)

    def _first_token(self, run: Run) -> None:
        if run.gone:
            return
        story = self.stories[run.number]
        if story.first < 0 and story.ended < 0:
            story.first = self.now
        run.streams = True
        self._feed(run.gateway, FirstToken(self._us(), run.attempt))

    def _finished(self, job: Job) -> None:
        run = job.key
        assert isinstance(run, Run)
        visit = run.visit
        usage = Usage(visit.prompt_tokens, visit.output_tokens, reported=True)
        self._feed(run.gateway, Finished(self._us(), run.attempt, usage))
        self._end(self.stories[run.number])

    def _end(self, story: Story) -> None:
        if story.ended < 0:
            story.ended = self.now
            self._open -= 1
            if self._clients and self._next < len(self._visits):
                # Not within the commands of another event: a client takes its answer first.
                self.at(self.now, self._arrive)

    # --- what is told now and then

    def _scrape(self, slot: int, *, again: bool = True) -> None:
        view = self.replicas[slot].view(self.now)
        for gateway in range(len(self._conductors)):
            self._feed(gateway, ViewChanged(self._us(), (view,)))
        if again:
            self.at(self.now + self._settings.signals_seconds, lambda: self._scrape(slot))

    def _progress(self, slot: int) -> None:
        replica = self.replicas[slot]
        gap_us = round(replica.engine.largest_gap() * SECOND_US)
        for run in tuple(replica.runs.values()):
            if run.streams:
                written = replica.engine.written(run.job, self.now)
                self._feed(run.gateway, Progress(self._us(), run.attempt, written, gap_us))
        self.at(self.now + self._settings.progress_seconds, lambda: self._progress(slot))

    def _look(self) -> None:
        replicas = self.replicas.values()
        fullness = [one.kv_usage(self.now) for one in replicas]
        self.occupancy.append((self.now, fullness))
        self.in_flight.append((self.now, [len(one.runs) for one in replicas]))
        self.at(self.now + self._settings.occupancy_seconds, self._look)

    def _us(self) -> int:
        return round(self.now * SECOND_US)


def _ignore(gateway: int, command: Command) -> None:
    """Nothing is carried out."""


def request_id(number: int) -> str:
    """Name of a visit's request: its number can be read back."""
    return f"v{number}"


def _number(name: str) -> int:
    return int(name[1:])
