"""What conductors tell each other of the load that they put on one endpoint."""

from collections.abc import Iterable
from typing import TypeAlias

import msgspec
from msgspec.structs import astuple


class Load(msgspec.Struct, frozen=True, gc=False):
    """What one conductor, or several together, have at one endpoint. All are ints, so that each fits one cell of a table.

    `in_flight`, `decoding`, `trials`, `held` and `wanting` are requests now: sent there; of these, past their first token;
    of these, lent to try an endpoint that is half-open; waiting in a queue, each told at one endpoint only; waiting, told at
    each endpoint that could take it. `backlog_us` is the priced work there before the first token, `head_us` that of the
    oldest request, worked on since `progressed_at` (0: none), `kv_tokens` the tokens in its cache. `cooling_until` is when a
    rate-limited endpoint may be asked again, and `shut_until` when one that failed may be tried (0: it is not shut). The rest count attempts since the conductor's start: `answered` began to bring
    content; `succeeded` ended well; `failed` and `absent` ended in a way that speaks against the endpoint, the latter as if
    nobody were there; `trials_passed` and `trials_failed` were trials; and `sent_us` adds up their priced work before the
    first token.
    """

    slot: int
    in_flight: int = 0
    decoding: int = 0
    backlog_us: int = 0
    head_us: int = 0
    progressed_at: int = 0
    kv_tokens: int = 0
    held: int = 0
    wanting: int = 0
    trials: int = 0
    cooling_until: int = 0
    shut_until: int = 0
    answered: int = 0
    succeeded: int = 0
    failed: int = 0
    absent: int = 0
    trials_passed: int = 0
    trials_failed: int = 0
    sent_us: int = 0


Outcomes: TypeAlias = tuple[int, int, int, int, int, int, int, int, int]
"""What a breaker tells: a Load's fields from `trials` to `trials_failed`."""

AMOUNTS = Load.__struct_fields__[1:]
"""The fields beside the slot: the columns of a table of loads."""

COUNTERS = ("answered", "succeeded", "failed", "absent", "trials_passed", "trials_failed", "sent_us")

_HEAD_US, _PROGRESSED_AT, _COOLING_UNTIL, _SHUT_UNTIL, _FIRST_COUNTER = map(
    Load.__struct_fields__.index, ("head_us", "progressed_at", "cooling_until", "shut_until", COUNTERS[0])
)


def together(slot: int, loads: Iterable[Load]) -> Load:
    """The load of several at one endpoint: sums, the oldest head, and the latest moments."""
    parts = tuple(loads)
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Load(slot)
    sums = list(map(sum, zip(*map(astuple, parts), strict=True)))
    sums[0] = slot
    heads = [(load.progressed_at, load.head_us) for load in parts if load.progressed_at]
    sums[_PROGRESSED_AT], sums[_HEAD_US] = min(heads, default=(0, 0))
    sums[_COOLING_UNTIL] = max([load.cooling_until for load in parts])
    sums[_SHUT_UNTIL] = max([load.shut_until for load in parts])
    return Load(*sums)


def counters(load: Load) -> tuple[int, ...]:
    """The values of COUNTERS."""
    return tuple(astuple(load)[_FIRST_COUNTER:])


def gained(before: Load, now: Load) -> tuple[int, ...]:
    """By how much each of COUNTERS has grown. One that is lower than before has begun anew, from 0."""
    pairs = zip(counters(before), counters(now), strict=True)
    return tuple([new - old if new >= old else new for old, new in pairs])
