"""One endpoint's part of the beliefs: its books, its speed, its gaps and its last view, and the row that they make."""

from collections.abc import Hashable

from forebay.domain.cost import Cost
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.load import Load, Outcomes
from forebay.domain.request import Demand
from forebay.estimators.books import Books, OpenAttempt
from forebay.estimators.capacity import Capacity
from forebay.estimators.gaps import Gaps
from forebay.estimators.rows import ANY_ABILITY, UNKNOWN, Row
from forebay.estimators.speed import Speed
from forebay.estimators.turns import Turns
from forebay.estimators.work_share import share_after

# What a fresh replica is given at once: Envoy's slow start has the same least weight of 10 %.
LEAST_RAMP = 0.1

# The histogram speaks for itself from this many gaps on; until then the engine's own figure does, if it has one.
GAPS_WANTED = 8

# An answer teaches what a step takes from so many steps on, if a fair share of its time was not spent on prompts.
LEAST_STEPS = 8
LEAST_DECODE_SHARE = 0.2

RAMP_FIELDS = ("ramp",)
DECLARED_FIELDS = (
    "roles",
    "max_in_flight",
    "encoder_budget_tokens",
    "numa_apart",
    "bytes_per_us",
    "abilities",
)
RATE_FIELDS = (
    "encode_us_per_patch",
    "prefill_us_per_token",
    "decode_us_per_token",
    "decode_us_per_kv_token",
)
WORK_FIELDS = (
    "in_flight",
    "backlog_us",
    "head_us",
    "progressed_at",
    "decoding",
    "work_share",
    "worked_at",
    "kv_tokens",
    "uncached_tokens",
    "sent_tokens",
    "max_in_flight",
    "gap_p95_us",
    *RATE_FIELDS,
)
VIEW_FIELDS = (
    "draining",
    "serves",
    "abilities",
    "context_tokens",
    "running",
    "waiting",
    "kv_usage",
    "viewed_at",
    "foreign",
    "kv_capacity_tokens",
    "gap_p95_us",
)


class Account:
    """Mutable, owned by one Beliefs. `position` is its place among the rows; `left_at` when it became unusable."""

    def __init__(self, endpoint: Endpoint, capacity: Capacity, at: int) -> None:
        self.row = Row(endpoint)
        self.device = endpoint.device
        self._endpoint = endpoint
        self._abilities_seen = ANY_ABILITY
        self.books = Books()
        self.peers: Load | None = None  # what the other conductors have there, once something was heard
        self._most_in_flight = self.row.max_in_flight
        self._wanting = self._held = self._sent_us = 0
        self.position = 0
        self.left_at = at
        self._capacity = capacity
        self._prompts = Speed()
        self._turns = Turns()
        self._steps = Speed()
        self._gaps = Gaps()
        self._gaps_seen = 0
        self._view_gap_us = UNKNOWN
        self._drained_by_us = False
        self._drained_by_itself = False
        self._warm_from = 0.0
        self._warming_since = at
        self.row.bytes_per_us = capacity.bytes_per_us
        self.post_rates()

    def redeclare(self, endpoint: Endpoint, capacity: Capacity) -> None:
        """Its owner says something else of it now. On another device, what was learned of its speed is void."""
        declared = Row(endpoint)
        declared.bytes_per_us = capacity.bytes_per_us
        for name in DECLARED_FIELDS:
            setattr(self.row, name, getattr(declared, name))
        self._endpoint = endpoint
        self.row.abilities = endpoint.able(self._abilities_seen)
        self._most_in_flight = declared.max_in_flight
        self._post_room()
        if endpoint.device != self.device:
            self.device, self._capacity = endpoint.device, capacity
            self._prompts, self._turns, self._steps = Speed(), Turns(), Speed()
            self.post_rates()

    # --- own work

    def dispatched(
        self, key: Hashable, cost: Cost, demand: Demand, at: int, *, cached_tokens: float, streamed: bool
    ) -> None:
        """Open the attempt's account."""
        attempt = OpenAttempt(
            cost,
            demand,
            at,
            cached_tokens=cached_tokens,
            among_ours=self._among_ours(),
            peers_us=self._peers_us,
            # A whole reply without output tokens (an embedding) shows its end of work as a first token does.
            silent=not streamed and demand.expected_output_tokens > 0,
            speed_factor=self._prompts.factor,
        )
        self.books.opened(key, attempt)
        row = self.row
        self._sent_us += attempt.prompt_us
        row.work_share = share_after(row.work_share, at - row.worked_at, attempt.prompt_us)
        row.worked_at = float(at)

    def first_token(self, key: Hashable, at: int, common: Speed) -> bool:
        """Move the account on, and learn from it if its turn came and nobody else's work is in its time.

        `common` is the speed of all endpoints alike, and learns too. True when something was learned.
        """
        attempt = self.books.first_token(key, at)
        if attempt is None:
            return False
        undisturbed = attempt.among_ours and self._among_ours() and attempt.peers_us == self._peers_us
        attempt.peers_us = self._peers_us
        if attempt.silent or attempt.served_us is None or not undisturbed:
            return False
        sample = self._turns.add(attempt.served_us, attempt.nominal_us, last=self.books.idle)
        if sample is None:
            return False
        for speed in (self._prompts, common):
            speed.learn(*sample)
        self.post_rates()
        return True

    @property
    def _peers_us(self) -> int:
        """Work on prompts that peers have ever sent there."""
        return self.peers.sent_us if self.peers is not None else 0

    def _among_ours(self) -> bool:
        """Whether nobody else's prompts are known to be there."""
        peers = self.peers
        return not self.row.foreign > 0 and (peers is None or peers.in_flight <= peers.decoding)

    def presume(self, common: Speed) -> bool:
        """Be as fast as endpoints alike, while nothing else is known. True if that changes the row."""
        changes = common.known and self._prompts.presume(common.factor)
        if changes:
            self.post_rates()
        return changes

    def progress(self, key: Hashable, tokens: int, gap_us: int) -> None:
        """Count the tokens, and note the gap."""
        self.books.progress(key, tokens)
        if gap_us > 0:
            self._gaps.add(gap_us)
            self._gaps_seen += 1
            self.row.gap_p95_us = self._gap_p95_us()

    def ended(self, key: Hashable, at: int, tokens: int) -> bool:
        """Close the account, and learn from an answer of so many tokens (0: not known). False when there is none."""
        attempt = self.books.closed(key)
        if attempt is None:
            return False
        if attempt.first_at and tokens and not attempt.silent:
            self._learn_decode(attempt, at, tokens)
        return True

    def _learn_decode(self, attempt: OpenAttempt, at: int, tokens: int) -> None:
        """Time that was not spent on prompts was spent on decode steps, each of which brought a token.

        Of peers' prompts the priced work is told and not how many they are: as large as ours in the mean.
        """
        books, row = self.books, self.row
        elapsed_us = at - attempt.first_at
        own_us = books.prompts_us - attempt.prompts_us
        all_us = own_us + self._peers_us - attempt.peers_us
        prompts = (books.prompts - attempt.prompts) * (all_us / own_us if own_us else 1.0)
        decode_us, steps = elapsed_us - all_us, tokens - 1 - prompts
        if steps < LEAST_STEPS or decode_us < LEAST_DECODE_SHARE * elapsed_us:
            return
        capacity = self._capacity
        nominal_us = capacity.decode_us_per_token + row.kv_tokens * capacity.decode_us_per_kv_token
        self._steps.learn(decode_us, steps * nominal_us)
        self.post_rates()

    def post(self) -> bool:
        """Bring the row's work up to the books and the peers. True if time alone will move the oldest own attempt on."""
        row, books = self.row, self.books
        before, past = books.open
        row.in_flight = float(before + past)
        row.decoding = float(past)
        row.backlog_us = float(books.backlog_us)
        row.kv_tokens = float(books.kv_tokens)
        row.uncached_tokens = float(books.uncached_tokens)
        row.sent_tokens = float(books.sent_tokens)
        head = books.head if before else None
        if head is None:
            row.head_us = row.progressed_at = 0.0
        else:
            row.head_us = float(head.prompt_us)
            row.progressed_at = float(books.progressed_at(head))
        if self.peers is not None:
            self._post_peers(self.peers)
        return head is not None and head.silent

    def heard(self, peers: Load, at: int) -> None:
        """What the other conductors have there now."""
        row, before = self.row, self.peers
        self.peers = peers
        if before is not None and peers.sent_us > before.sent_us:
            sent_us = peers.sent_us - before.sent_us
            row.work_share = share_after(row.work_share, at - row.worked_at, sent_us)
            row.worked_at = float(at)

    def _post_peers(self, peers: Load) -> None:
        row = self.row
        row.in_flight += peers.in_flight
        row.decoding += peers.decoding
        row.backlog_us += peers.backlog_us
        row.kv_tokens += peers.kv_tokens
        if peers.progressed_at and not 0 < row.progressed_at <= peers.progressed_at:
            row.head_us, row.progressed_at = float(peers.head_us), float(peers.progressed_at)
        self._post_room()

    @property
    def open(self) -> int:
        """Own attempts in flight."""
        return sum(self.books.open)

    def wants(self, wanting: int, held: int) -> None:
        """So many own requests wait that could go there; `held` of them are told here and nowhere else."""
        self._wanting, self._held = wanting, held
        self._post_room()

    def load(self, outcomes: Outcomes) -> Load:
        """Own work and own waiting requests, with what the breaker tells."""
        books = self.books
        before, past = books.open
        head = books.head
        head_us = progressed_at = 0
        if head is not None:
            head_us, progressed_at = head.prompt_us, books.progressed_at(head)
        work = (before + past, past, books.backlog_us, head_us, progressed_at, books.kv_tokens)
        return Load(self.row.slot, *work, self._held, self._wanting, *outcomes, self._sent_us)

    def _post_room(self) -> None:
        """While others wait for the endpoint as well, no conductor takes more of it than its part of all who wait.

        Who holds nothing counts as one: its next request. Some holder is always below its part of an endpoint that is not
        full, since the parts of all holders sum to the whole.
        """
        row, most = self.row, self._most_in_flight
        row.max_in_flight = most
        if self.peers is not None and self.peers.wanting:
            wanting = self._wanting or 1
            part = most * wanting / (wanting + self.peers.wanting)
            if self.open >= part:
                row.max_in_flight = min(most, row.in_flight)

    def post_rates(self) -> None:
        """Bring the row's rates up to what was learned."""
        row, factor = self.row, self._prompts.factor
        of_steps = self._steps.factor if self._steps.known else factor
        row.encode_us_per_patch = self._capacity.encode_us_per_patch * factor
        row.prefill_us_per_token = self._capacity.prefill_us_per_token * factor
        row.decode_us_per_token = self._capacity.decode_us_per_token * of_steps
        row.decode_us_per_kv_token = self._capacity.decode_us_per_kv_token * of_steps

    # --- what others tell

    def viewed(self, view: EndpointView, model: str, at: int) -> bool:
        """Take over a view. True when the endpoint's standing has changed."""
        row = self.row
        before = self._standing()
        row.serves = UNKNOWN if view.models is None else float(model in view.models)
        self._abilities_seen = ANY_ABILITY if view.abilities is None else int(view.abilities)
        row.abilities = self._endpoint.able(self._abilities_seen)
        row.context_tokens = _number(view.context_tokens)
        row.running = _number(view.running)
        row.waiting = _number(view.waiting)
        row.kv_usage = _number(view.kv_usage)
        row.kv_capacity_tokens = _number(view.kv_capacity_tokens)
        loads = [load for load in (view.running, view.waiting) if load is not None]
        row.foreign = max(0.0, sum(loads) - row.in_flight) if loads else UNKNOWN
        row.viewed_at = float(at) if loads or view.kv_usage is not None else UNKNOWN
        self._view_gap_us = _number(view.gap_p95_us)
        row.gap_p95_us = self._gap_p95_us()
        self._drained_by_itself = view.draining
        self._post_draining()
        return self._standing() != before

    def drain(self, flag: bool) -> bool:
        """Our own wish to empty it. True when that changes the row."""
        before = self.row.draining
        self._drained_by_us = flag
        self._post_draining()
        return self.row.draining != before

    def _post_draining(self) -> None:
        self.row.draining = float(self._drained_by_us or self._drained_by_itself)

    def _standing(self) -> tuple[float, ...]:
        # UNKNOWN is one object, and tuples take an object to equal itself, though it is NaN.
        return (self.row.serves, self.row.abilities, self.row.draining)

    def _gap_p95_us(self) -> float:
        return self._gaps.p95_us() if self._gaps_seen >= GAPS_WANTED else self._view_gap_us

    # --- slow start

    def chill(self, at: int) -> None:
        """It is fresh: nothing is warm yet."""
        self._warm_from, self._warming_since = 0.0, at

    def cool_down(self, at: int, slow_start_us: float) -> None:
        """It is back after an absence, in which it cooled as fast as it would have warmed."""
        away = (at - self.left_at) / slow_start_us if slow_start_us else 0.0
        self._warm_from, self._warming_since = max(0.0, self.row.ramp - away), at

    def warm_up(self, at: int, slow_start_us: float) -> bool:
        """Set the ramp for `at`. True when it is complete."""
        gained = (at - self._warming_since) / slow_start_us if slow_start_us else 1.0
        self.row.ramp = min(1.0, max(LEAST_RAMP, self._warm_from + gained))
        return self.row.ramp >= 1.0


def _number(value: float | None) -> float:
    return UNKNOWN if value is None else float(value)
