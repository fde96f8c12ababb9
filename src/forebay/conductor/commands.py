"""What the conductor asks for. Drivers carry it out to the letter, and decide nothing."""

from typing import TypeAlias

import msgspec

from forebay.domain.endpoint import Endpoint
from forebay.domain.load import Load
from forebay.domain.outcome import Attempt, Outcome
from forebay.domain.placement import Decision


class Hold(msgspec.Struct, frozen=True, gc=False):
    """Keep the request: a later command will name it. `reason` is a kebab-case word."""

    request_id: str
    reason: str


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """Send this attempt there, asking for `model`, the name that the pool's engines serve."""

    attempt: Attempt
    endpoint: Endpoint
    model: str


class Reject(msgspec.Struct, frozen=True, gc=False):
    """End the request without a (further) attempt.

    `status` and `code` are the gateway's own words, used when the engine gave none. With `relay` the engine's own
    error reply, which the front still holds from the failed attempt, is the answer. Once content was sent, the front
    ends the stream with an error event instead. `retry_after_seconds` is whole and at least 1, or 0 for none.
    """

    request_id: str
    status: int
    code: str
    message: str
    retry_after_seconds: int = 0
    relay: bool = False


class Abort(msgspec.Struct, frozen=True, gc=False):
    """Close this attempt's connection; nothing more will be wanted of it."""

    attempt: Attempt


class WakeAt(msgspec.Struct, frozen=True, gc=False):
    """Send a Woke at or soon after this moment. A later WakeAt replaces an earlier one."""

    at: int


class Note(msgspec.Struct, frozen=True, gc=False):
    """For the observers: a decision with its numbers, or a request's one outcome."""

    subject: Decision | Outcome


class Publish(msgspec.Struct, frozen=True, gc=False):
    """Tell the other conductors of this gateway what this one has at an endpoint. Comes before what it brings about."""

    load: Load


Command: TypeAlias = Publish | Hold | Dispatch | Reject | Abort | WakeAt | Note
