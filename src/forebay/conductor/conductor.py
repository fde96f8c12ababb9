"""The heart: from (plan, seed, events) come the same commands, bit for bit."""

import functools
import operator
import random
from collections.abc import Callable
from typing import Any

from forebay.admission import status
from forebay.admission.breaker import retry_after_seconds
from forebay.admission.retry import may_retry
from forebay.admission.status import Answer
from forebay.conductor.commands import Abort, Command, Dispatch, Hold, Note, Publish, Reject, WakeAt
from forebay.conductor.events import (
    Arrived,
    Cancelled,
    DrainAsked,
    Event,
    Failed,
    Finished,
    FirstToken,
    PeersChanged,
    PlanChanged,
    Progress,
    ViewChanged,
    Woke,
)
from forebay.conductor.journey import NO_USAGE, Journey
from forebay.conductor.peers import Peers
from forebay.conductor.plan import Plan
from forebay.conductor.pool import Pool
from forebay.domain.ability import Ability
from forebay.domain.load import Load
from forebay.domain.outcome import Ending, FailureKind, Outcome, Usage
from forebay.domain.placement import Decision, Placement
from forebay.domain.request import ANYWHERE
from forebay.placement.profile import emptied_by

# By the filter that dropped the last candidate: what the client is told. Those that time can mend carry a Retry-After.
_ANSWERS = {
    "pinned": status.NOT_KEPT,
    "adapter": status.NO_ADAPTER,
    "role": status.NO_ENDPOINTS,
    "model": status.NO_ENDPOINTS,
    "context": status.TOO_LONG,
    "draining": status.NO_ENDPOINTS,
    "health": status.NO_ENDPOINTS,
    "saturation": status.SATURATED,
}


class Conductor:
    """Composes admission, placement and estimators. Never re-entered, never reads a clock or a dice of its own."""

    def __init__(self, plan: Plan, *, seed: int = 0, at: int = 0, worker: int = 0, workers: int = 1) -> None:
        """Start with `plan` in force at `at`; `seed` feeds every choice that is left to chance.

        It is conductor `worker` of the `workers` of one gateway, counted from 0. Each draws from a chance of its own.
        """
        self.plan = plan
        self._peers = Peers(worker, workers)
        self.pools: dict[str, Pool] = {}
        self._by_name: dict[str, Pool] = {}
        self._by_slot: dict[int, Pool] = {}
        self._journeys: dict[str, Journey] = {}
        self._rng = random.Random(seed + worker)
        self._out: list[Command] = []
        self._wake_at: int | None = None
        self._handlers: dict[type, Callable[[Any], None]] = {
            Arrived: self._arrived,
            FirstToken: self._first_token,
            Progress: self._progress,
            Finished: self._finished,
            Failed: self._failed,
            Cancelled: self._cancelled,
            ViewChanged: self._view_changed,
            PeersChanged: self._peers_changed,
            PlanChanged: self._plan_changed,
            DrainAsked: self._drain_asked,
            Woke: self._woke,
        }
        self._adopt(plan, at, fresh=False)

    @property
    def open_requests(self) -> int:
        """Requests that have arrived and not ended."""
        return len(self._journeys)

    @property
    def holding(self) -> bool:
        """Whether requests wait here for room, of which peers may have some. One that is alone need not ask."""
        return self._peers.waiting > 0

    def handle(self, event: Event) -> list[Command]:
        """What to do about `event`, in order. Events of requests that are over are ignored."""
        self._out = []
        self._handlers[type(event)](event)
        self._plan_wake(event.at)
        if self._peers.touched:
            self._publish(self._peers.touched)
        return self._out

    # --- a request's way

    def _arrived(self, event: Arrived) -> None:
        request = event.request
        pool = self._by_name.get(request.model)
        if pool is None:
            self._note_refused(event, status.UNKNOWN_MODEL.code)
            self._out.append(_reject(request.request_id, status.UNKNOWN_MODEL))
            return
        journey = Journey(request, pool, pool.demand(request), event.at)
        self._journeys[request.request_id] = journey
        if pool.some_late:
            self._hold_late(journey, event.at)
            self._drain_late(pool, event.at)
            return
        placement = self._answer(journey, event.at, ())
        if pool.holds(journey, placement):
            self._hold_late(journey, event.at)
        else:
            self._bind(journey, placement, event.at)

    def _bind(self, journey: Journey, placement: Placement, at: int) -> None:
        """Send a new request where it was placed, or hold it while those that could take it are full, or refuse it."""
        self._out.append(Note(_decision(journey, placement, at)))
        if placement.slot is not None:
            self._dispatch(journey, placement.slot, at)
        elif emptied_by(placement) == "saturation" and journey.pool.hold(
            journey, placement.filters[-1].dropped, at
        ):
            self._out.append(Hold(journey.request.request_id, "saturated"))
        else:
            self._reject_unplaced(journey, placement, at)

    def _hold_late(self, journey: Journey, at: int) -> None:
        journey.pool.hold_late(journey, at)
        self._out.append(Hold(journey.request.request_id, "late"))

    def _drain_late(self, pool: Pool, at: int) -> None:
        """Bind those whose moment has come, in their order."""
        while len(pool.late):
            request_id, forced = pool.late.first(at)
            journey = self._journeys[request_id]
            placement = self._answer(journey, at, ())
            if not forced and pool.holds(journey, placement):
                return
            pool.late.remove(request_id)
            self._bind(journey, placement, at)

    def _first_token(self, event: FirstToken) -> None:
        journey = self._journey(event)
        if journey is not None and not journey.first_token_at:
            journey.first_token_at = event.at
            journey.pool.first_token(journey, event.at)
            self._drain_late(journey.pool, event.at)

    def _progress(self, event: Progress) -> None:
        journey = self._journey(event)
        if journey is not None:
            journey.pool.progressed(journey, event)

    def _finished(self, event: Finished) -> None:
        journey = self._journey(event)
        if journey is not None:
            journey.pool.finished(journey, event.usage, event.at)
            self._end(journey, Ending.FINISHED, "finished", event.at, event.usage)

    def _failed(self, event: Failed) -> None:
        journey = self._journey(event)
        if journey is None:
            return
        pool = journey.pool
        pool.failed(journey, event)
        journey.fail()
        if may_retry(pool.plan.retry, event.kind, content_sent=event.content_sent, tries=journey.tries):
            placement = self._place(journey, event.at)
            if placement.slot is not None and pool.retries.withdraw(event.at):
                self._dispatch(journey, placement.slot, event.at)
                self._drain_queue(pool, event.at)
                return
        answer = status.answer_for(event.kind)
        retry_after = 0 if event.content_sent else self._retry_after(journey, event)
        reject = _reject(
            journey.request.request_id, answer, retry_after=retry_after, relay=event.status >= 400
        )
        self._end(journey, Ending.FAILED, event.kind.value, event.at, event.usage, reject)

    def _cancelled(self, event: Cancelled) -> None:
        journey = self._journeys.get(event.request_id)
        if journey is None:
            return
        if journey.attempt is not None:
            self._out.append(Abort(journey.attempt))
        journey.pool.cancelled(journey, event.at)
        self._end(journey, Ending.CANCELLED, "client-cancelled", event.at, event.usage)

    # --- the fleet and the plan

    def _view_changed(self, event: ViewChanged) -> None:
        pools = {}
        moved = False
        for view in event.views:
            pool = self._by_slot.get(view.slot)
            if pool is not None:
                moved |= pool.viewed(view, event.at)
                pools[pool.plan.model] = pool
        if moved:
            self._index_names()
        for pool in pools.values():
            self._drain_queue(pool, event.at)

    def _peers_changed(self, event: PeersChanged) -> None:
        pools = {}
        for load in event.loads:
            self._peers.heard[load.slot] = load
            pool = self._by_slot.get(load.slot)
            if pool is not None:
                pool.heard(load, event.at)
                pools[pool.plan.model] = pool
        for pool in pools.values():
            self._drain_queue(pool, event.at)

    def _plan_changed(self, event: PlanChanged) -> None:
        self._adopt(event.plan, event.at, fresh=True)
        for pool in self.pools.values():
            self._drain_queue(pool, event.at)

    def _drain_asked(self, event: DrainAsked) -> None:
        pool = self._by_slot.get(event.slot)
        if pool is not None:
            pool.drain(event.slot, event.at + event.limit_us if event.draining else None)
            self._drain_queue(pool, event.at)

    def _woke(self, event: Woke) -> None:
        self._wake_at = None
        for pool in tuple(self.pools.values()):
            pool.refresh(event.at)
            for request_id in pool.queue.expire(event.at):
                self._expire(self._journeys[request_id], event.at)
            self._end_overdue(pool, event.at)
            self._drain_late(pool, event.at)
            self._drain_queue(pool, event.at)
        self._forget_emptied()

    def _adopt(self, plan: Plan, at: int, *, fresh: bool) -> None:
        self.plan = plan
        wanted = {pool_plan.model: pool_plan for pool_plan in plan.pools}
        for model, pool_plan in wanted.items():
            if model in self.pools:
                self.pools[model].adopt(pool_plan, at)
            else:
                self.pools[model] = Pool(pool_plan, self._peers, at, fresh=fresh)
        for model, pool in self.pools.items():
            if model not in wanted:
                pool.retire(at)
        self._index_names()
        self._forget_emptied()

    def _index_names(self) -> None:
        """Names of the plan go before those that engines report."""
        pools = [self.pools[pool_plan.model] for pool_plan in self.plan.pools]
        self._by_name = {name: pool for pool in pools for name in pool.plan.names}
        for pool in pools:
            for name in pool.adapters.names:
                self._by_name.setdefault(name, pool)

    def _forget_emptied(self) -> None:
        for pool in self.pools.values():
            pool.forget_emptied()
        kept = {pool_plan.model for pool_plan in self.plan.pools}
        self.pools = {
            model: pool
            for model, pool in self.pools.items()
            if model in kept or pool.slots() or len(pool.queue) or len(pool.late)
        }
        self._by_slot = {slot: pool for pool in self.pools.values() for slot in pool.slots()}

    # --- steps

    def _journey(self, event: FirstToken | Progress | Finished | Failed) -> Journey | None:
        journey = self._journeys.get(event.attempt.request_id)
        return journey if journey is not None and journey.runs(event.attempt) else None

    def _place(self, journey: Journey, at: int) -> Placement:
        placement = self._answer(journey, at, journey.tried)
        if placement.slot is None and journey.tried:
            # Nobody new is left: the same endpoint again is better than no answer.
            placement = self._answer(journey, at, ())
        self._out.append(Note(_decision(journey, placement, at)))
        return placement

    def _answer(self, journey: Journey, at: int, tried: tuple[int, ...]) -> Placement:
        journey.ask = journey.pool.ask(journey.request, journey.demand, at, tried)
        return journey.pool.place(journey.ask, self._rng)

    def _dispatch(self, journey: Journey, slot: int, at: int) -> None:
        if journey.waits_for:
            journey.pool.let_go(journey)
        first = journey.tries == 0
        attempt = journey.begin(slot)
        endpoint = journey.pool.dispatched(journey, at, first=first)
        self._out.append(Dispatch(attempt, endpoint, journey.engine_model))

    def _drain_queue(self, pool: Pool, at: int) -> None:
        """Place what was held, oldest first, as far as there is room."""
        if not len(pool.queue):
            return

        def place(request_id: str) -> bool:
            journey = self._journeys[request_id]
            placement = self._answer(journey, at, ())
            if placement.slot is None:
                return False
            self._out.append(Note(_decision(journey, placement, at)))
            self._dispatch(journey, placement.slot, at)
            return True

        def kind(request_id: str) -> tuple[int, int]:
            request = self._journeys[request_id].request
            return int(request.needs), request.only_slot

        pool.queue.pop_ready(place, kind)

    def _reject_unplaced(self, journey: Journey, placement: Placement, at: int) -> None:
        answer = _unplaced(journey, placement)
        retry_after = retry_after_seconds(journey.pool.changes(), at) if answer.status == 503 else 0
        reject = _reject(journey.request.request_id, answer, retry_after=retry_after)
        self._end(journey, Ending.REJECTED, answer.code, at, reject=reject)

    def _expire(self, journey: Journey, at: int) -> None:
        reject = _reject(journey.request.request_id, status.TTL_EXPIRED, retry_after=1)
        self._end(journey, Ending.REJECTED, status.TTL_EXPIRED.code, at, reject=reject)

    def _end_overdue(self, pool: Pool, at: int) -> None:
        """End what still runs at endpoints whose drain limit is over."""
        overdue = pool.overdue(at)
        if not overdue:
            return
        for journey in [j for j in self._journeys.values() if j.attempt is not None and j.slot in overdue]:
            attempt = journey.attempt
            assert attempt is not None
            self._out.append(Abort(attempt))
            sent = journey.first_token_at > 0
            self._failed(Failed(at, attempt, FailureKind.DRAIN_TIMEOUT, content_sent=sent))

    def _retry_after(self, journey: Journey, event: Failed) -> int:
        if event.retry_after_us:
            return max(1, -(-event.retry_after_us // 1_000_000))
        if event.kind is FailureKind.CLIENT_STATUS:
            return 0
        return retry_after_seconds(journey.pool.changes(), event.at)

    def _end(
        self,
        journey: Journey,
        ending: Ending,
        reason: str,
        at: int,
        usage: Usage = NO_USAGE,
        reject: Reject | None = None,
    ) -> None:
        """The journey is over. Its outcome is told before its client is: with the reply, its log line is written."""
        request_id = journey.request.request_id
        del self._journeys[request_id]
        journey.pool.queue.remove(request_id)
        journey.pool.late.remove(request_id)
        if journey.waits_for:
            journey.pool.let_go(journey)
        if journey.pool.leaving:
            self._forget_emptied()
        outcome = Outcome(
            request_id=request_id,
            ending=ending,
            reason=reason,
            model=journey.pool.plan.model,
            endpoint=journey.served_by(),
            tries=journey.tries,
            usage=usage,
            ttft_us=journey.first_token_at - journey.arrived_at if journey.first_token_at else 0,
            e2e_us=at - journey.arrived_at,
        )
        self._out.append(Note(outcome))
        if reject is not None:
            self._out.append(reject)
        self._drain_queue(journey.pool, at)

    def _note_refused(self, event: Arrived, reason: str) -> None:
        request = event.request
        outcome = Outcome(request.request_id, Ending.REJECTED, reason, "", "", 0, NO_USAGE, 0, 0)
        self._out.append(Note(outcome))

    def _publish(self, touched: set[int]) -> None:
        """Tell the peers first: what follows may take a while, and they decide by it."""
        told = self._peers.told
        news = []
        for slot in sorted(touched):
            pool = self._by_slot.get(slot)
            load = Load(slot) if pool is None else pool.load(slot)
            if told.get(slot) != load:
                told[slot] = load
                news.append(Publish(load))
        touched.clear()
        self._out[:0] = news

    def _plan_wake(self, at: int) -> None:
        """Ask to be woken when time alone will change something, if that is sooner than what was asked for."""
        soonest = self._wake_at
        for pool in self.pools.values():
            moment = pool.next_moment(at)
            if moment is not None and (soonest is None or moment < soonest):
                soonest = moment
        if soonest is not None and soonest != self._wake_at:
            self._wake_at = soonest
            self._out.append(WakeAt(soonest))


def _reject(request_id: str, answer: Answer, *, retry_after: int = 0, relay: bool = False) -> Reject:
    return Reject(request_id, answer.status, answer.code, answer.message, retry_after, relay)


def _unplaced(journey: Journey, placement: Placement) -> Answer:
    """What the client is told: by the filter that dropped the last candidates, and by what it read of them."""
    emptied = emptied_by(placement)
    if emptied not in ("ability", "encoder-budget"):
        answer = _ANSWERS.get(emptied, status.NO_ENDPOINTS)
        only = journey.request.only_slot != ANYWHERE
        return status.KEEPER_AWAY if only and answer is status.NO_ENDPOINTS else answer
    dropped = [journey.pool.row(slot) for slot in placement.filters[-1].dropped]
    if emptied == "ability":
        known = functools.reduce(operator.or_, (e.abilities for e in dropped))
        return status.not_capable(journey.request.needs & ~Ability(int(known)))
    assert journey.ask is not None, "what was not placed was asked for"
    budget = max(e.encoder_budget_tokens for e in dropped)
    return status.too_large_for_encoder(journey.ask.largest_item_tokens, int(budget))


def _decision(journey: Journey, placement: Placement, at: int) -> Decision:
    demand = journey.demand
    return Decision(
        request_id=journey.request.request_id,
        at=at,
        try_=journey.tries,
        model=journey.request.model,
        pool=journey.pool.plan.model,
        prompt_tokens=demand.prompt_tokens,
        text_tokens=demand.text_tokens,
        image_tokens=demand.image_tokens,
        audio_tokens=demand.audio_tokens,
        video_tokens=demand.video_tokens,
        encoder_patches=demand.encoder_patches,
        expected_output_tokens=demand.expected_output_tokens,
        exact=demand.exact,
        placement=placement,
        endpoints=journey.pool.names,
    )
