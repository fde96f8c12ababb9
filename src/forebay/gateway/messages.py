"""What a supervisor and its workers tell each other, as msgpack over a channel."""

from types import SimpleNamespace
from typing import Any, Self, TypeAlias

import msgspec

from forebay.config.assemble import Recipe
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.facts import Facts
from forebay.telemetry.endpoints_json import EndpointRow
from forebay.telemetry.tally import Tally

# --- down, to a worker


class DrainSlot(msgspec.Struct, frozen=True, tag=True):
    """Empty an endpoint, or take it back."""

    slot: int
    draining: bool
    limit_seconds: float


class Begin(msgspec.Struct, frozen=True, tag=True):
    """The first message: who the worker is, what it inherits by descriptor, and all that it would have been told by now."""

    worker: int
    workers: int
    ledger: int
    ledger_slots: int
    listeners: tuple[int, ...]
    recipe: Recipe
    drains: tuple[DrainSlot, ...] = ()
    addresses: dict[str, tuple[str, ...]] = {}


class Views(msgspec.Struct, frozen=True, tag=True):
    """What the fleet's eyes have seen, the newest of each endpoint."""

    views: tuple[EndpointView, ...]


class Moved(msgspec.Struct, frozen=True, tag=True):
    """A name that endpoints are declared at stands for these addresses now."""

    host: str
    addresses: tuple[str, ...]


class Adopt(msgspec.Struct, frozen=True, tag=True):
    """Live by this plan from now on."""

    recipe: Recipe


class Leave(msgspec.Struct, frozen=True, tag=True):
    """Drain, and end."""


class AskState(msgspec.Struct, frozen=True, tag=True):
    """Answer with a State."""

    number: int


class AskFleet(msgspec.Struct, frozen=True, tag=True):
    """Answer with a Fleet."""

    number: int


class AskStory(msgspec.Struct, frozen=True, tag=True):
    """Answer with a Story of that request."""

    number: int
    request_id: str


class AskLatest(msgspec.Struct, frozen=True, tag=True):
    """Answer with a Story of the last requests."""

    number: int
    limit: int


Down: TypeAlias = (
    Begin | Views | Moved | Adopt | DrainSlot | Leave | AskState | AskFleet | AskStory | AskLatest
)

# --- up, from a worker


class Living(msgspec.Struct, frozen=True, tag=True):
    """The worker takes connections, and lives by the plan of this version."""

    version: int


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The worker could not put the plan together: the files that it names have changed since the supervisor read them."""

    version: int
    problem: str


class SeenRow(msgspec.Struct, frozen=True):
    """One endpoint as a worker sees it: the plain values of a telemetry row."""

    pool: str
    endpoint: Endpoint
    view: EndpointView | None
    beliefs: dict[str, float | int]

    @classmethod
    def of(cls, row: EndpointRow) -> Self:
        """The row, with its beliefs as they are now."""
        beliefs = {name: getattr(row.beliefs, name) for name in Facts.__annotations__}
        return cls(row.pool, row.endpoint, row.view, beliefs)

    def row(self) -> EndpointRow:
        """The same, as telemetry reads it."""
        return EndpointRow(self.pool, self.endpoint, self.view, SimpleNamespace(**self.beliefs))


class State(msgspec.Struct, frozen=True, tag=True):
    """How a worker is: whether it takes requests, its counts since it began, and what its telemetry has lost.

    `number` is that of the question; 0 for the last words of a worker that ends.
    """

    number: int
    ready: bool
    tally: Tally
    losses: dict[str, int]


class Fleet(msgspec.Struct, frozen=True, tag=True):
    """The endpoints as a worker believes them to be, with the load of all workers, and what it has served there lately."""

    number: int
    rows: tuple[SeenRow, ...]
    served: dict[str, dict[str, Any]]


class Story(msgspec.Struct, frozen=True, tag=True):
    """What a worker knows of one request, or of the last ones: JSON-ready values, None for nothing."""

    number: int
    found: dict[str, Any] | None


Up: TypeAlias = Living | Refused | State | Fleet | Story

encode = msgspec.msgpack.Encoder().encode
decode_down = msgspec.msgpack.Decoder(Down).decode
decode_up = msgspec.msgpack.Decoder(Up).decode
