"""One pool's live state: what its policies remember and what its estimators believe."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from forebay.admission.breaker import NOBODY, Breaker
from forebay.admission.late import RETRY_US, LateQueue
from forebay.admission.queue import HoldQueue
from forebay.admission.retry import RetryBudget
from forebay.conductor.adapters import Adapters
from forebay.conductor.peers import POLL_US, Peers
from forebay.conductor.plan import PoolPlan
from forebay.domain.ability import Ability
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.facts import Ask, Facts
from forebay.domain.load import Load
from forebay.domain.outcome import Usage
from forebay.domain.placement import Placement
from forebay.domain.request import ANYWHERE, Api, Demand, InferenceRequest
from forebay.estimators.beliefs import Beliefs
from forebay.estimators.capacity import capacity_of
from forebay.estimators.lengths import Lengths
from forebay.estimators.pace import PaceMeter
from forebay.estimators.residency import Residency
from forebay.estimators.text_tokens import TextTokens
from forebay.placement.cost import price

if TYPE_CHECKING:
    from forebay.conductor.events import Failed, Progress
    from forebay.conductor.journey import Journey


NO_MATCH: Mapping[int, float] = {}
# A client may write any number of choices; engines refuse larger ones, or run them in turns.
MAX_CHOICES = 64
_PROMPTED = int(
    Ability.CHAT | Ability.COMPLETIONS | Ability.EMBEDDINGS | Ability.MESSAGES | Ability.RESPONSES
)


class Pool:
    """Everything that the conductor keeps of one pool. All of it changes only inside `Conductor.handle`."""

    def __init__(self, plan: PoolPlan, peers: Peers, at: int, *, fresh: bool) -> None:
        """Begin with the plan's endpoints; `fresh` ones are spared at first, as those of a running gateway are."""
        self.plan = plan
        self.beliefs = Beliefs(plan.model, plan.slow_start_seconds)
        self.queue = HoldQueue(plan.queue)
        self.late = LateQueue()
        self.retries = RetryBudget(plan.retry, peers.share)
        self.text = TextTokens()
        self.lengths = Lengths(plan.expected_output_tokens)
        self.residency = Residency(plan.residency)
        self.pace = PaceMeter()
        self.adapters = Adapters(plan.adapters)
        self.names: dict[int, str] = {}
        self.views: dict[int, EndpointView] = {}
        self._peers = peers
        self._touched = peers.touched
        self._wanting: Counter[int] = Counter()  # own held requests, by each slot that could take them
        self._held: Counter[int] = Counter()  # the same, each by one slot
        self._endpoints: dict[int, Endpoint] = {}
        self._breakers: dict[int, Breaker] = {}
        self._unsettled: set[int] = set()  # slots whose breaker will change with time alone
        self._drain_until: dict[int, int] = {}
        self.leaving: set[int] = set()  # slots that the plan no longer names
        with self.beliefs.changing():
            for endpoint in plan.endpoints:
                self._add(endpoint, at, fresh=fresh)
        self.adapters.locate(self._endpoints, self.views)

    # --- what a request needs

    def demand(self, request: InferenceRequest) -> Demand:
        """What `request` will use, as far as can be told before it runs."""
        text = self.text.estimate(request.text)
        output = self.lengths.expected(request.needs, request.max_output_tokens, len(request.media))
        output *= _answers(request)
        if not request.media:
            return Demand(text, 0, 0, 0, 0, output, request.body_bytes, exact=True, prompts=request.prompts)
        tokens = {Ability.IMAGE: 0, Ability.AUDIO: 0, Ability.VIDEO: 0}
        patches = 0
        exact = True
        for item in request.media:
            tokens[item.modality] += item.tokens + item.wrapper_tokens
            patches += item.encoder_patches
            exact = exact and item.exact
        return Demand(
            text_tokens=text,
            image_tokens=tokens[Ability.IMAGE],
            audio_tokens=tokens[Ability.AUDIO],
            video_tokens=tokens[Ability.VIDEO],
            encoder_patches=patches,
            expected_output_tokens=output,
            body_bytes=request.body_bytes,
            exact=exact,
            prompts=request.prompts,
        )

    def ask(self, request: InferenceRequest, demand: Demand, at: int, tried: tuple[int, ...]) -> Ask:
        """The question where the request should go now."""
        cached = self._cached_tokens(request, demand)
        encoded = self.residency.encoded(self._apart(request), request.media) if request.media else NO_MATCH
        return Ask(
            request, demand, at, cached, encoded, tried, self.adapters.slots(request.model), self.pace.pace
        )

    def place(self, ask: Ask, rng: random.Random) -> Placement:
        """The answer, by the pool's profile."""
        return self.plan.profile.place(ask, self.beliefs.facts(ask.at), rng)

    def _cached_tokens(self, request: InferenceRequest, demand: Demand) -> Mapping[int, float]:
        if not request.prefix_blocks:
            return NO_MATCH
        matched = self.residency.matched(self._apart(request), request.prefix_blocks)
        if not matched:
            return NO_MATCH
        most, covered = demand.prompt_tokens, request.prefix_tokens
        return {
            slot: float(tokens if (tokens := covered[count - 1]) < most else most)
            for slot, count in matched.items()
        }

    def _apart(self, request: InferenceRequest) -> str:
        """Whose caches these are: those of a tenant, and of an adapter, which computes other states from the same prompt."""
        return f"{request.tenant}/{request.model}" if request.model in self.adapters else request.tenant

    # --- an attempt's way; each is called once, in this order

    def dispatched(self, journey: "Journey", at: int, *, first: bool) -> Endpoint:
        """Choosing and counting are one step: the next decision already sees this one."""
        slot, attempt, request, ask = journey.slot, journey.attempt, journey.request, journey.ask
        assert ask is not None, "what is dispatched was placed"
        cached = ask.cached_tokens.get(slot, 0.0)
        encoded = ask.encoded_patches.get(slot, 0.0)
        cost = price(journey.demand, cached, encoded, self.beliefs.row(slot))
        self.beliefs.dispatched(
            slot, attempt, cost, journey.demand, at, cached_tokens=cached, streamed=request.stream
        )
        self.residency.held(self._apart(request), slot, request.prefix_blocks, request.media)
        self._breakers[slot].dispatched(attempt, at)
        self._settle(slot, at)
        if first:
            self.retries.dispatched(at)
        return self._endpoints[slot]

    def first_token(self, journey: "Journey", at: int) -> None:
        """The attempt's prompt is done."""
        self.beliefs.first_token(journey.slot, journey.attempt, at)
        if journey.request.stream:
            self.pace.first_token(at - journey.arrived_at, journey.demand.prompt_tokens)
        self._breakers[journey.slot].answering(journey.attempt, at)
        self._settle(journey.slot, at)

    def progressed(self, journey: "Journey", event: "Progress") -> None:
        """The attempt's decode goes on."""
        self.beliefs.progress(
            journey.slot, journey.attempt, event.output_tokens, event.largest_gap_us, event.at
        )
        if self._touched is not None:
            self._touched.add(journey.slot)

    def finished(self, journey: "Journey", usage: Usage, at: int) -> None:
        """The attempt ended well, and its usage teaches."""
        told = usage.completion_tokens if usage.reported and _answers(journey.request) == 1 else 0
        self.beliefs.ended(journey.slot, journey.attempt, at, told)
        if usage.completion_tokens:
            self.pace.answered(at - journey.arrived_at)
        self._breakers[journey.slot].succeeded(journey.attempt, at)
        self._settle(journey.slot, at)
        if usage.reported and journey.demand.exact and _teaches(journey.request):
            self.text.learn(journey.request.text, usage.prompt_tokens - journey.demand.media_tokens)
        if usage.completion_tokens:
            request = journey.request
            tokens = usage.completion_tokens // _answers(request)
            self.lengths.learn(request.needs, tokens, len(request.media))

    def failed(self, journey: "Journey", event: "Failed") -> None:
        """The attempt ended badly."""
        self.beliefs.ended(journey.slot, journey.attempt, event.at)
        self._breakers[journey.slot].failed(journey.attempt, event.kind, event.at, event.retry_after_us)
        self._settle(journey.slot, event.at)

    def cancelled(self, journey: "Journey", at: int) -> None:
        """The client left; the attempt in flight, if there is one, says nothing of its endpoint."""
        if journey.attempt is not None:
            self.beliefs.ended(journey.slot, journey.attempt, at)
            self._breakers[journey.slot].cancelled(journey.attempt)
            self._settle(journey.slot, at)

    # --- waiting

    def hold(self, journey: "Journey", full: tuple[int, ...], at: int) -> bool:
        """Let the request wait for one of the endpoints that are `full`. False when the queue is full too."""
        elsewhere = self._peers.held(self.slots()) if self._peers.several else 0
        if not self.queue.push(journey.request.request_id, at, elsewhere):
            return False
        if self._peers.several:
            journey.waits_for = full
            self._count_waiting(full, 1)
        return True

    @property
    def some_late(self) -> bool:
        """Whether requests wait for a better moment, and one more may join them."""
        return 0 < len(self.late) < self.plan.queue.max_requests

    def holds(self, journey: "Journey", placement: Placement) -> bool:
        """Whether the request, for which that place was found, had better wait for another moment."""
        if placement.slot is None or len(self.late) >= self.plan.queue.max_requests:
            return False
        assert journey.ask is not None, "what has a placement was placed"
        return self.plan.profile.holds(journey.ask, placement)

    def hold_late(self, journey: "Journey", at: int) -> None:
        """Let the request wait for a better moment."""
        works = [price(journey.demand, 0.0, 0.0, row).prompt_us for row in self.beliefs.rows[:1]]
        self.late.push(journey.request.request_id, at, sum(works))

    def let_go(self, journey: "Journey") -> None:
        """The request waits no longer."""
        self._count_waiting(journey.waits_for, -1)
        journey.waits_for = ()

    def _count_waiting(self, slots: tuple[int, ...], by: int) -> None:
        self._peers.waiting += by
        self._held[slots[0]] += by
        for slot in slots:
            self._wanting[slot] += by
            self.beliefs.wants(slot, self._wanting[slot], self._held[slot])
        assert self._touched is not None, "who is alone counts nothing for others"
        self._touched.update(slots)

    # --- the peers

    def heard(self, peers: Load, at: int) -> None:
        """What the other conductors have at one endpoint, all together."""
        self.beliefs.heard(peers, at)
        breaker = self._breakers[peers.slot]
        breaker.heard(peers, at)
        if not breaker.steady or peers.slot in self._unsettled:
            self._show(peers.slot, at)

    def load(self, slot: int) -> Load:
        """What this conductor has at the endpoint."""
        return self.beliefs.load(slot, self._breakers[slot].told())

    # --- the fleet and the plan

    def viewed(self, view: EndpointView, at: int) -> bool:
        """What the eyes saw of one endpoint. True when it has other adapters than before."""
        before = self.views.get(view.slot)
        self.views[view.slot] = view
        moved = before is None or before.adapters != view.adapters
        if moved:
            self.adapters.locate(self._endpoints, self.views)
        self.beliefs.viewed(view, at)
        self.pace.capacity(view.slot, view.kv_capacity_tokens)
        self._breakers[view.slot].probed(view.reachable, at)
        self.beliefs.set_draining(view.slot, view.draining or self._is_draining(view.slot))
        self._settle(view.slot, at)
        return moved

    def drain(self, slot: int, until: int | None) -> None:
        """Send nothing more to `slot`, and end what still runs there at `until`; None takes it back into use."""
        if until is None:
            self._drain_until.pop(slot, None)
        else:
            self._drain_until[slot] = until
        self.beliefs.set_draining(slot, self._is_draining(slot))

    def adopt(self, plan: PoolPlan, at: int) -> None:
        """Live by a new plan: new endpoints join as fresh ones, those no longer named drain and are then forgotten.

        One that is named again before it is empty goes on as if it had never left.
        """
        self.plan = plan
        self._adopt_settings(plan)
        named = {endpoint.slot for endpoint in plan.endpoints}
        with self.beliefs.changing():
            for endpoint in plan.endpoints:
                if endpoint.slot in self._endpoints:
                    self._keep(endpoint)
                else:
                    self._add(endpoint, at, fresh=True)
        for slot in self._endpoints:
            if slot not in named:
                self._leave(slot)
        self.adapters.adopt(plan.adapters)
        self.adapters.locate(self._endpoints, self.views)

    def retire(self, at: int) -> None:
        """The plan no longer names this pool."""
        for slot in self._endpoints:
            self._leave(slot)
        self.refresh(at)

    def forget_emptied(self) -> None:
        """Drop endpoints that have left the plan and run nothing more."""
        emptied = [slot for slot in self.leaving if not self.beliefs.open(slot)]
        if not emptied:
            return
        self.residency.forget(*emptied)
        with self.beliefs.changing():
            for slot in emptied:
                self._forget(slot)

    def _forget(self, slot: int) -> None:
        self.leaving.discard(slot)
        self._unsettled.discard(slot)
        self._drain_until.pop(slot, None)
        self.beliefs.remove(slot)
        self.pace.forget(slot)
        if self._touched is not None:
            self._touched.add(slot)
        for table in (self._endpoints, self._breakers, self.views):
            table.pop(slot, None)

    # --- time

    def refresh(self, at: int) -> None:
        """Let time's changes to breakers show."""
        for slot in tuple(self._unsettled):
            self._settle(slot, at)

    def overdue(self, at: int) -> set[int]:
        """Slots whose drain limit is over."""
        return {slot for slot, until in self._drain_until.items() if until <= at and self.beliefs.open(slot)}

    def next_moment(self, at: int) -> int | None:
        """When time alone changes something here: a breaker, the queue, a drain limit. None if nothing waits."""
        if len(self.late):
            return at + RETRY_US
        if not self._unsettled and not self._drain_until and not len(self.queue):
            return None
        moments = [self.queue.next_expiry_at(), *self.changes(), *self._drain_until.values()]
        if self._peers.several and len(self.queue):
            moments.append(at + POLL_US)
        return min((moment for moment in moments if moment is not None and moment > at), default=None)

    def changes(self) -> Iterable[int | None]:
        """When each endpoint that is left alone may be asked again."""
        return [self._breakers[slot].next_change_at() for slot in self._unsettled]

    # --- for reading

    def slots(self) -> tuple[int, ...]:
        """Slots of every endpoint, those that are leaving too."""
        return tuple(self._endpoints)

    def endpoint_name(self, slot: int) -> str:
        """Name of an endpoint, also of one that has left."""
        return self.names[slot]

    def endpoint(self, slot: int) -> Endpoint:
        """An endpoint as declared."""
        return self._endpoints[slot]

    def row(self, slot: int) -> Facts:
        """What is believed of one endpoint."""
        return self.beliefs.row(slot)

    def breaker_state(self, slot: int, at: int) -> str:
        """A word for people."""
        return self._breakers[slot].state(at).value

    # --- inside

    def _add(self, endpoint: Endpoint, at: int, *, fresh: bool) -> None:
        slot = endpoint.slot
        self._endpoints[slot] = endpoint
        if self.names.get(slot, endpoint.name) != endpoint.name:
            self.names = self.names.copy()  # decisions of the past tell who had the slot then
        self.names[slot] = endpoint.name
        heard = self._peers.heard.get(slot, NOBODY)
        self._breakers[slot] = Breaker(self.plan.breaker, heard, self._peers.stagger_us(slot))
        self.beliefs.add(endpoint, capacity_of(endpoint.device), at, fresh=fresh)
        if self._peers.several:
            self.beliefs.heard(msgspec.structs.replace(heard, slot=slot), at)

    def _keep(self, endpoint: Endpoint) -> None:
        slot = endpoint.slot
        if slot in self.leaving:
            self.leaving.discard(slot)
            self.beliefs.set_draining(slot, self._is_draining(slot))
        if endpoint != self._endpoints[slot]:
            self._endpoints[slot] = endpoint
            self.beliefs.redeclare(endpoint, capacity_of(endpoint.device))

    def _adopt_settings(self, plan: PoolPlan) -> None:
        self.beliefs.adopt(plan.slow_start_seconds)
        self.queue.adopt(plan.queue)
        self.retries.adopt(plan.retry)
        self.lengths.adopt(plan.expected_output_tokens)
        self.residency.adopt(plan.residency)
        for breaker in self._breakers.values():
            breaker.adopt(plan.breaker)

    def _leave(self, slot: int) -> None:
        self.leaving.add(slot)
        self.beliefs.set_draining(slot, True)

    def _is_draining(self, slot: int) -> bool:
        return slot in self._drain_until or slot in self.leaving

    def _settle(self, slot: int, at: int) -> None:
        """Let the endpoint's breaker show, after something of ours has come to pass there."""
        if self._touched is not None:
            self._touched.add(slot)
        if not self._breakers[slot].steady or slot in self._unsettled:
            self._show(slot, at)

    def _show(self, slot: int, at: int) -> None:
        """Let the endpoint's breaker show in what placement sees, and remember whether time will change it."""
        breaker = self._breakers[slot]
        usable = breaker.usable(at)
        self.beliefs.set_usable(slot, usable, at)
        if usable and breaker.next_change_at() is None:
            self._unsettled.discard(slot)
        else:
            self._unsettled.add(slot)


def _teaches(request: InferenceRequest) -> bool:
    """Whether its prompt is what was read here: no pairs, no tokens of an earlier response."""
    return request.only_slot == ANYWHERE and bool(int(request.needs) & _PROMPTED)


def _answers(request: InferenceRequest) -> int:
    """How many answers are written: to each prompt of a completion so many choices."""
    choices = min(MAX_CHOICES, request.choices)
    return choices * request.prompts if request.api is Api.COMPLETIONS else choices
