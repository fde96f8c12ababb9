"""What filters and scorers may know of an endpoint: one set of names, two shapes.

A policy is written once, as arithmetic on these names. Over a small pool it is evaluated once per endpoint on plain
numbers, which is fastest there; over a large one it is evaluated once on float64 columns, one element per endpoint.
Both give the same numbers, since IEEE arithmetic in the same order is the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from forebay.domain.pace import AT_FIRST, Pace
from forebay.domain.request import Demand, InferenceRequest

# A float for one endpoint, or a float64 array over a pool. NaN is unknown. Typed Any because no static type says
# "either, but the same one throughout an expression" without an overload for every operator.
Quantity: TypeAlias = Any


class Facts(Protocol):
    """Beliefs about one endpoint, or about every endpoint of a pool, at one moment.

    Flags are 0.0 or 1.0. NaN is unknown. Bit sets (`abilities`, `roles`) are ints. Times are microseconds.
    """

    slot: Quantity  # int: the endpoint's place in the conductor's tables
    name_hash: Quantity  # int of 64 bits: of the endpoint's name, the same in every worker and gateway
    usable: Quantity  # flag: breaker closed or lending its probe, not cooling down, not reported down
    draining: Quantity  # flag: takes no new request
    serves: Quantity  # flag, NaN unknown: lists the pool's model
    abilities: Quantity  # int bit set of Ability
    roles: Quantity  # int bit set of Role
    context_tokens: Quantity  # longest sequence, NaN unknown
    encoder_budget_tokens: Quantity  # most tokens of one medium that its encoder takes, inf for no bound
    in_flight: Quantity  # requests that this gateway has open there, exact
    max_in_flight: Quantity  # bound on in_flight, inf for none
    running: Quantity  # scraped requests running, NaN unknown
    waiting: Quantity  # scraped requests waiting, NaN unknown
    kv_usage: Quantity  # scraped, 0..1, NaN unknown
    viewed_at: Quantity  # when those were scraped, NaN never
    foreign: Quantity  # requests there that are not ours, as of the scrape, >= 0; NaN unknown
    encode_us_per_patch: Quantity  # capacity, with what was learned of this endpoint's speed
    prefill_us_per_token: Quantity
    decode_us_per_token: Quantity  # one decode step of a lightly loaded engine
    decode_us_per_kv_token: Quantity  # what each token in its KV cache adds to that
    backlog_us: Quantity  # own encode and prefill work there that has shown no first token
    head_us: Quantity  # of that, the oldest request's
    progressed_at: Quantity  # when that oldest one began to be worked on, as far as we can tell
    decoding: Quantity  # own requests past their first token
    work_share: (
        Quantity  # own encode and prefill work sent there, over time: 1 keeps it busy with prompts; decays
    )
    worked_at: Quantity  # when work_share was true
    kv_tokens: Quantity  # own tokens in its KV cache
    uncached_tokens: Quantity  # prompt tokens of own open requests there that no cache was believed to hold
    sent_tokens: (
        Quantity  # the same of all that were ever sent there: the size of what it was given to remember
    )
    kv_capacity_tokens: Quantity  # NaN unknown
    gap_p95_us: Quantity  # 95th percentile of gaps between tokens seen there, NaN unknown
    bytes_per_us: Quantity  # bandwidth of the path to it
    numa_apart: Quantity  # flag, NaN unknown: pre-processing sits on another NUMA node than the device
    ramp: Quantity  # slow start: 0 < share <= 1 of its capacity that a fresh replica should be given


class PoolFacts(Protocol):
    """A pool's endpoints at one moment: always as rows, and as columns too when it is large enough to pay.

    Both hold the same endpoints in the same order.
    """

    @property
    def rows(self) -> Sequence[Facts]:
        """One Facts of plain numbers per endpoint."""
        ...

    @property
    def columns(self) -> Facts | None:
        """One Facts of arrays over all endpoints, or None for a small pool."""
        ...

    @property
    def standing(self) -> object:
        """Another object whenever an endpoint's standing has changed, or which endpoints there are.

        An endpoint's standing is its `usable`, `draining`, `serves`, `abilities` and `roles`. They change with views,
        breakers and drains, not with each request, so that what follows from them alone may be kept.
        """
        ...


class Ask:
    """The question put to a profile: this request, now. Not to be changed.

    `cached_tokens` and `encoded_patches` name, by slot, the endpoints believed to hold a prefix of the prompt or some
    of its media already encoded, and how much of it. `tried` are the slots where this request has failed, `adapter_slots`
    those that have the adapter which it asks for, None where it asks for none.

    `pace` is how the pool's requests fare on the whole.

    What would be the same for every endpoint is worked out once: `needs` as a plain int (arithmetic of flags is dear),
    the demand's `prompt_tokens` and `media_tokens`, and the tokens of the largest medium, without the marks around it.
    """

    __slots__ = (
        "adapter_slots",
        "at",
        "cached_tokens",
        "demand",
        "encoded_patches",
        "largest_item_tokens",
        "media_tokens",
        "needs",
        "only_slot",
        "pace",
        "prompt_tokens",
        "request",
        "tried",
    )

    def __init__(
        self,
        request: InferenceRequest,
        demand: Demand,
        at: int,
        cached_tokens: Mapping[int, float],
        encoded_patches: Mapping[int, float],
        tried: tuple[int, ...] = (),
        adapter_slots: frozenset[int] | None = None,
        pace: Pace = AT_FIRST,
    ) -> None:
        """Ask for `request`, of that demand, at that moment."""
        self.request = request
        self.demand = demand
        self.at = at
        self.cached_tokens = cached_tokens
        self.encoded_patches = encoded_patches
        self.tried = tried
        self.pace = pace
        self.adapter_slots = adapter_slots
        self.needs = int(request.needs)
        self.only_slot = request.only_slot
        self.media_tokens = demand.media_tokens
        self.largest_item_tokens = _largest(request) if request.media else 0
        self.prompt_tokens = demand.text_tokens + self.media_tokens


def _largest(request: InferenceRequest) -> int:
    """Tokens of the largest medium whose bytes are in the request; of others nobody here knows the size."""
    return max((item.tokens for item in request.media if item.content_hash), default=0)
