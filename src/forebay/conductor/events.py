"""What the conductor is told. Each event carries `at`, microseconds of the driver's monotonic clock."""

from typing import TypeAlias

import msgspec

from forebay.conductor.plan import Plan
from forebay.domain.endpoint import EndpointView
from forebay.domain.load import Load
from forebay.domain.outcome import Attempt, FailureKind, Usage
from forebay.domain.request import InferenceRequest


class Arrived(msgspec.Struct, frozen=True, gc=False):
    """A request is understood and wants a place."""

    at: int
    request: InferenceRequest


class ViewChanged(msgspec.Struct, frozen=True, gc=False):
    """The fleet's eyes have seen these endpoints. Each view replaces the last of its slot."""

    at: int
    views: tuple[EndpointView, ...]


class PeersChanged(msgspec.Struct, frozen=True, gc=False):
    """What all other conductors of this gateway together have at these endpoints. Each replaces the last of its slot."""

    at: int
    loads: tuple[Load, ...]


class PlanChanged(msgspec.Struct, frozen=True):
    """A new plan is in force. Endpoints that it no longer names drain."""

    at: int
    plan: Plan


class DrainAsked(msgspec.Struct, frozen=True, gc=False):
    """An operator wants an endpoint emptied (`draining`), or back in use.

    It gets no new request from now on; what still runs there after `limit_us` is ended with an error.
    """

    at: int
    slot: int
    draining: bool
    limit_us: int = 0


class FirstToken(msgspec.Struct, frozen=True, gc=False):
    """The attempt's first content reached the gateway. From here on it cannot be retried."""

    at: int
    attempt: Attempt


class Progress(msgspec.Struct, frozen=True, gc=False):
    """Told at most twice a second per attempt: deltas so far, and the largest gap between two since the last telling."""

    at: int
    attempt: Attempt
    output_tokens: int
    largest_gap_us: int


class Finished(msgspec.Struct, frozen=True, gc=False):
    """The reply is whole."""

    at: int
    attempt: Attempt
    usage: Usage


class Failed(msgspec.Struct, frozen=True, gc=False):
    """The attempt is over without a whole reply.

    `status` is the engine's, 0 when there was none; `retry_after_us` is its own wish, 0 for none; `content_sent` tells
    whether the client has seen content, after which nothing can be retried. `usage` is what was counted so far.
    """

    at: int
    attempt: Attempt
    kind: FailureKind
    status: int = 0
    retry_after_us: int = 0
    content_sent: bool = False
    usage: Usage = Usage()


class Cancelled(msgspec.Struct, frozen=True, gc=False):
    """The client has gone. `usage` is what was counted so far."""

    at: int
    request_id: str
    usage: Usage = Usage()


class Woke(msgspec.Struct, frozen=True, gc=False):
    """The moment asked for by a WakeAt, or later."""

    at: int


Event: TypeAlias = (
    Arrived
    | ViewChanged
    | PeersChanged
    | PlanChanged
    | DrainAsked
    | FirstToken
    | Progress
    | Finished
    | Failed
    | Cancelled
    | Woke
)
