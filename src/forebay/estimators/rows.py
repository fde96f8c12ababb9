"""The two shapes of a pool's facts: a row of plain numbers per endpoint, and columns over all of them."""

from collections.abc import Iterable, Sequence

import numpy as np
import xxhash

from forebay.domain.endpoint import Endpoint
from forebay.domain.facts import Facts, Quantity

UNKNOWN = float("nan")

# -1 has every bit: an endpoint of unknown abilities may have any.
ANY_ABILITY = -1

FIELDS = tuple(Facts.__annotations__)
_KINDS = {"slot": np.int64, "abilities": np.int64, "roles": np.int64, "name_hash": np.uint64}


class Row:
    """Facts of one endpoint, see `domain.facts.Facts`. Starts as nothing is known but what was declared."""

    __slots__ = FIELDS

    slot: int
    name_hash: int
    usable: float
    draining: float
    serves: float
    abilities: int
    roles: int
    context_tokens: float
    encoder_budget_tokens: float
    in_flight: float
    max_in_flight: float
    running: float
    waiting: float
    kv_usage: float
    viewed_at: float
    foreign: float
    encode_us_per_patch: float
    prefill_us_per_token: float
    decode_us_per_token: float
    decode_us_per_kv_token: float
    backlog_us: float
    head_us: float
    progressed_at: float
    decoding: float
    work_share: float
    worked_at: float
    kv_tokens: float
    uncached_tokens: float
    sent_tokens: float
    kv_capacity_tokens: float
    gap_p95_us: float
    bytes_per_us: float
    numa_apart: float
    ramp: float

    def __init__(self, endpoint: Endpoint) -> None:
        for name in FIELDS:
            setattr(self, name, 0.0)
        for name in _AT_FIRST_UNKNOWN:
            setattr(self, name, UNKNOWN)
        self.slot = endpoint.slot
        self.name_hash = xxhash.xxh3_64_intdigest(endpoint.name.encode())
        self.usable = 1.0
        self.abilities = endpoint.able(ANY_ABILITY)
        self.roles = int(endpoint.role)
        self.max_in_flight = float(endpoint.max_in_flight or "inf")
        self.encoder_budget_tokens = float(endpoint.encoder_budget_tokens or "inf")
        self.numa_apart = _numa_apart(endpoint)
        self.ramp = 1.0


_AT_FIRST_UNKNOWN = (
    "serves",
    "context_tokens",
    "running",
    "waiting",
    "kv_usage",
    "viewed_at",
    "foreign",
    "kv_capacity_tokens",
    "gap_p95_us",
)


def _numa_apart(endpoint: Endpoint) -> float:
    if endpoint.numa_node is None or endpoint.preprocess_numa_node is None:
        return UNKNOWN
    return float(endpoint.numa_node != endpoint.preprocess_numa_node)


class Columns:
    """The same facts as float64 arrays (ints for slots, bit sets and hashes), element i for the i-th row."""

    slot: Quantity
    name_hash: Quantity
    usable: Quantity
    draining: Quantity
    serves: Quantity
    abilities: Quantity
    roles: Quantity
    context_tokens: Quantity
    encoder_budget_tokens: Quantity
    in_flight: Quantity
    max_in_flight: Quantity
    running: Quantity
    waiting: Quantity
    kv_usage: Quantity
    viewed_at: Quantity
    foreign: Quantity
    encode_us_per_patch: Quantity
    prefill_us_per_token: Quantity
    decode_us_per_token: Quantity
    decode_us_per_kv_token: Quantity
    backlog_us: Quantity
    head_us: Quantity
    progressed_at: Quantity
    decoding: Quantity
    work_share: Quantity
    worked_at: Quantity
    kv_tokens: Quantity
    uncached_tokens: Quantity
    sent_tokens: Quantity
    kv_capacity_tokens: Quantity
    gap_p95_us: Quantity
    bytes_per_us: Quantity
    numa_apart: Quantity
    ramp: Quantity

    def __init__(self, rows: Sequence[Row]) -> None:
        for name in FIELDS:
            kind = _KINDS.get(name, np.float64)
            setattr(self, name, np.array([getattr(row, name) for row in rows], dtype=kind))

    def write(self, position: int, row: Row, names: Iterable[str]) -> None:
        """Copy these fields of the row at `position`."""
        for name in names:
            getattr(self, name)[position] = getattr(row, name)
