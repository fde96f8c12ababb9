"""All workers of a gateway that has several, in processes of their own."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

from forebay.config.assemble import Assembly
from forebay.domain.endpoint import EndpointView
from forebay.gateway.hand import Hand
from forebay.gateway.messages import Adopt, Begin, DrainSlot, Fleet, Moved, State
from forebay.runtime.ledger import Ledger
from forebay.telemetry.worker_families import WorkerStatus

# A worker is there within a second of a quiet core, most of it Python's imports.
START_SECONDS = 60.0
# What a worker has counted since it was last asked is lost with it.
LOOK_SECONDS = 5.0


class Crew:
    """Tells all of them what there is to know, and asks them what operators want to know."""

    def __init__(self, assembly: Assembly, listeners: Sequence[Sequence[socket.socket]]) -> None:
        """One worker for each of `listeners`, the sockets that it takes connections from. They stay the caller's."""
        self._assembly = assembly
        self._listeners = listeners
        self._ledger = Ledger.create(len(listeners))
        self._views: dict[int, EndpointView] = {}
        self._drains: dict[int, DrainSlot] = {}
        self._addresses: dict[str, tuple[str, ...]] = {}  # by name
        self._width = 0
        self._widen(assembly)
        self.hands = [Hand(number, self._beginner(number), self._died) for number in range(len(listeners))]
        self._tasks: list[asyncio.Task[None]] = []
        self._looking: asyncio.Task[None] | None = None

    # --- life

    async def start(self) -> None:
        """Start all workers, and wait until each takes connections. Raises TimeoutError when one never does."""
        self._tasks = [asyncio.create_task(hand.run(), name=f"worker {hand.number}") for hand in self.hands]
        self._looking = asyncio.create_task(self._look_after(), name="look after workers")
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.gather(*(hand.serving.wait() for hand in self.hands))
        except TimeoutError:
            raise TimeoutError(f"the workers did not start within {START_SECONDS:.0f} s") from None

    def leave(self) -> None:
        """All drain, and end."""
        for hand in self.hands:
            hand.leave()

    async def ended(self) -> None:
        """Wait until all have ended."""
        await asyncio.gather(*(hand.ended.wait() for hand in self.hands))

    async def stop(self) -> None:
        """End all now."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for hand in self.hands:
            hand.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ledger.close()

    # --- what they are told

    def saw(self, views: tuple[EndpointView, ...]) -> None:
        """The fleet's eyes have seen these endpoints."""
        self._views |= {view.slot: view for view in views}
        for hand in self.hands:
            hand.saw(views)

    def adopt(self, assembly: Assembly) -> None:
        """Live by a new plan."""
        self._assembly = assembly
        self._widen(assembly)
        current = {endpoint.slot for endpoint in assembly.endpoints()}
        self._views = {slot: view for slot, view in self._views.items() if slot in current}
        self._drains = {slot: drain for slot, drain in self._drains.items() if slot in current}
        message = Adopt(assembly.recipe)
        for hand in self.hands:
            hand.adopt(message)

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """A name stands for these addresses now. Who is started later hears of it too."""
        self._addresses[host] = addresses
        for hand in self.hands:
            hand.moved(Moved(host, addresses))

    def drain_slot(self, slot: int, *, draining: bool, limit_seconds: float) -> None:
        """Empty an endpoint, or take it back. Who is started later hears of it too."""
        message = DrainSlot(slot, draining, limit_seconds)
        self._drains[slot] = message
        for hand in self.hands:
            hand.drain_slot(message)

    # --- what they are asked

    def statuses(self) -> list[WorkerStatus]:
        """For metrics."""
        return [hand.status for hand in self.hands]

    async def states(self) -> list[State]:
        """How each is."""
        return await asyncio.gather(*(hand.state() for hand in self.hands))

    async def caught_up(self) -> None:
        """Wait until all have heard what they were told, but for one that does not answer: messages are heard in order."""
        await self.states()

    async def fleet(self) -> Fleet | None:
        """The endpoints as the first that answers believes them to be: but for a moment, all believe the same."""
        for hand in self.hands:
            answer = await hand.fleet()
            if answer is not None:
                return answer
        return None

    async def fleets(self) -> list[Fleet]:
        """The endpoints as each that answers believes them to be."""
        answers = await asyncio.gather(*(hand.fleet() for hand in self.hands))
        return [answer for answer in answers if answer is not None]

    async def story(self, request_id: str) -> dict[str, Any] | None:
        """What is known of that request, by whoever served it last."""
        answers = await asyncio.gather(*(hand.story(request_id) for hand in self.hands))
        found = [answer.found for answer in answers if answer is not None and answer.found is not None]
        return max(found, key=_asked_at, default=None)

    async def latest(self, limit: int) -> list[dict[str, Any]]:
        """The last requests of all, newest first."""
        answers = await asyncio.gather(*(hand.latest(limit) for hand in self.hands))
        stories = [
            story
            for answer in answers
            if answer is not None and answer.found
            for story in answer.found["requests"]
        ]
        return sorted(stories, key=_asked_at, reverse=True)[:limit]

    def living(self) -> set[int]:
        """Slots that some worker may still know another endpoint by than the plan in force does."""
        if any(hand.version != self._assembly.plan.version for hand in self.hands):
            return set(range(self._width))
        return {slot for slot in range(self._width) if self._in_flight(slot)}

    def in_flight(self) -> int:
        """Requests that all workers have at engines."""
        return sum(self._in_flight(slot) for slot in range(self._width))

    def _in_flight(self, slot: int) -> int:
        return sum(self._ledger.load(hand.number, slot).in_flight for hand in self.hands)

    # --- inside

    def _beginner(self, number: int) -> Any:
        def begin() -> Begin:
            hand = self.hands[number]
            hand.saw(self._views.values())
            return Begin(
                number,
                len(self._listeners),
                self._ledger.descriptor,
                self._ledger.slots,
                tuple(each.fileno() for each in self._listeners[number]),
                self._assembly.recipe,
                tuple(self._drains.values()),
                self._addresses,
            )

        return begin

    async def _look_after(self) -> None:
        """Ask each how it is, so that its counts are known should it die, and end those that answer no more."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.states()
            for hand in self.hands:
                hand.end_if_silent()

    def _died(self, number: int) -> None:
        self._ledger.clear(number, self._width)

    def _widen(self, assembly: Assembly) -> None:
        self._width = max([self._width, *(endpoint.slot + 1 for endpoint in assembly.endpoints())])


def _asked_at(story: dict[str, Any]) -> int:
    at: int = story["decisions"][0]["at_us"]
    return at
