"""One request on its way: what the conductor must remember of it until its one ending."""

from forebay.conductor.pool import Pool
from forebay.domain.facts import Ask
from forebay.domain.outcome import Attempt, Usage
from forebay.domain.request import Demand, InferenceRequest


class Journey:
    """Mutable, owned by the conductor alone, and forgotten at the request's ending."""

    __slots__ = (
        "arrived_at",
        "ask",
        "attempt",
        "demand",
        "engine_model",
        "first_token_at",
        "pool",
        "request",
        "slot",
        "tried",
        "tries",
        "waits_for",
    )

    def __init__(self, request: InferenceRequest, pool: Pool, demand: Demand, at: int) -> None:
        """Begin at `at`, with no attempt."""
        self.request = request
        self.pool = pool
        self.demand = demand
        self.engine_model = pool.plan.engine_name(request.model)  # whatever later plans make of the name
        self.arrived_at = at
        self.attempt: Attempt | None = None  # the one in flight
        self.ask: Ask | None = None  # as the last placement was asked
        self.slot = -1  # where the last attempt went
        self.tried: tuple[int, ...] = ()
        self.tries = 0
        self.waits_for: tuple[
            int, ...
        ] = ()  # while it is held, and there are peers: slots that could take it
        self.first_token_at = 0

    def runs(self, attempt: Attempt) -> bool:
        """Whether `attempt` is the one in flight; late news of an earlier one is not."""
        return self.attempt == attempt

    def begin(self, slot: int) -> Attempt:
        """The next attempt, at `slot`."""
        self.attempt = Attempt(self.request.request_id, 0, self.tries)
        self.slot = slot
        self.tries += 1
        return self.attempt

    def fail(self) -> None:
        """The attempt in flight is over; its slot counts as tried."""
        self.attempt = None
        self.tried = (*self.tried, self.slot)

    def served_by(self) -> str:
        """Name of the endpoint of the last attempt, empty if there was none."""
        return self.pool.endpoint_name(self.slot) if self.slot >= 0 else ""


NO_USAGE = Usage()
