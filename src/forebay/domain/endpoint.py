"""An endpoint as declared by the plan, and as seen by the fleet's eyes."""

import msgspec

from forebay.domain.ability import Ability, Role


class Endpoint(msgspec.Struct, frozen=True, gc=False):
    """A routable address and what its owner declared of it. Unstated is empty or None, never a guess.

    `slot` is its place in the conductor's tables, unique among live endpoints. `max_in_flight` is a bound on requests
    that this gateway has open there, and `encoder_budget_tokens` on the tokens of one medium; 0 for none.
    """

    slot: int
    name: str
    url: str
    engine: str = ""
    device: str = ""
    zone: str = ""
    role: Role = Role.ALL
    numa_node: int | None = None
    preprocess_numa_node: int | None = None
    max_in_flight: int = 0
    encoder_budget_tokens: int = 0


class EndpointView(msgspec.Struct, frozen=True, gc=False):
    """What one scrape and probe told of an endpoint. None is unknown, and unknown is never zero.

    `reachable` is the last probe's word: True, False, or None before the first. `models` are the names it serves.
    `running` and `waiting` are requests, `kv_usage` is 0..1 (the fullest rank), `kv_usage_mean` its mean over ranks,
    `kv_capacity_tokens` the size of the KV cache, `context_tokens` the longest sequence. `gap_p95_us` is the engine's
    own 95th percentile between tokens over the last scrapes.
    """

    slot: int
    reachable: bool | None = None
    draining: bool = False
    engine: str = ""
    models: tuple[str, ...] | None = None
    abilities: Ability | None = None
    context_tokens: int | None = None
    running: float | None = None
    waiting: float | None = None
    kv_usage: float | None = None
    kv_usage_mean: float | None = None
    kv_capacity_tokens: int | None = None
    gap_p95_us: float | None = None
