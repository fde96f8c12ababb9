"""What every API declares of itself: one Form, in its own file. A new API is such a file, and a line in `forms`."""

import enum
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from forebay.domain.request import Api, InferenceRequest
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings
from forebay.intake.splice import EditPoints
from forebay.intake.tokens.family import Family


class Replies(enum.Enum):
    """How an engine's replies are read, so that they can be metered, restored and ended properly.

    CHUNKS and MESSAGES are whole, or the streams of OpenAI's chats and of Anthropic's messages. RESPONSES and TYPED are
    whole, or streams of events that name their type; the former tell ids of responses, and so do KEPT
    ones, whose tokens were metered when they were made. BYTES pass as they come, unless
    they are JSON or events, which are then TYPED.
    """

    CHUNKS = "chunks"
    MESSAGES = "messages"
    RESPONSES = "responses"
    TYPED = "typed"
    KEPT = "kept"
    BYTES = "bytes"


class Seat(NamedTuple):
    """Where a response is kept: the model's pool, the endpoint's slot there, and the id that the engine knows it by."""

    model: str
    slot: int
    engine_id: str


def _keeps_none(_held_id: str, _tenant: str, param: str | None) -> Seat:
    raise Refusal(404, "response_not_found", "no response of that id is kept here", param)


class Incoming(msgspec.Struct, frozen=True, gc=False):
    """A request as it came: its body, what its head says about that, and by what it is to be read.

    `family_of` gives the token rules of a model by the client's name, None for unknown ones. `held_id` is the id in the
    path, where the path has one. `tenant` is empty without client keys. `seat_of` finds the response of an id for a
    tenant, and raises a Refusal that names the parameter when there is none.
    """

    body: bytes | bytearray
    settings: IntakeSettings
    request_id: str
    family_of: Callable[[str], Family | None]
    content_type: str = ""
    held_id: str = ""
    tenant: str = ""
    seat_of: Callable[[str, str, str | None], Seat] = _keeps_none


class Understood(msgspec.Struct, frozen=True, gc=False):
    """A request, where its body may have to change, and how its reply is read.

    `held_id` is what the engine shall find in the path in place of the id that came; empty where the path has none.
    """

    request: InferenceRequest
    edits: EditPoints
    replies: Replies = Replies.CHUNKS
    held_id: str = ""


class Form(Protocol):
    """One API's way in."""

    @property
    def api(self) -> Api:
        """Which it is."""
        ...

    @property
    def routes(self) -> Sequence[tuple[str, str]]:
        """Methods and paths that lead to it; `{id}` in a path stands for one segment."""
        ...

    def understand(self, incoming: Incoming) -> Understood:
        """Read it. Raises Refusal, and nothing else."""
        ...
