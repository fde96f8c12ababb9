"""Requests that wait for a better moment: held back while every endpoint has a backlog, and bound to one when that falls.

What is bound late is bound by what is known then. Of those who wait, short work goes first, and the longer one waits the
sooner its turn: that is the prototype's p - age / 2, under which nobody is passed by for long.
"""

# How often to look again, beside every first token: a tenth of the time to a first token that people notice.
RETRY_US = 10_000

# After so long a request is bound to the least bad endpoint.
FORCE_US = 2_000_000

# A second of waiting makes up for half a second of work.
AGE_WEIGHT = 0.5


class LateQueue:
    """One pool's late requests, by id."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[int, float]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, request_id: str, at: int, work_us: float) -> None:
        """Hold a request whose prompt is about so much work."""
        self._waiting[request_id] = (at, work_us)

    def remove(self, request_id: str) -> None:
        """Let go of one, if it is held."""
        self._waiting.pop(request_id, None)

    def first(self, at: int) -> tuple[str, bool]:
        """Whose turn it is, and whether it must be bound now. Raises ValueError when nobody waits."""

        def order(request_id: str) -> tuple[bool, float]:
            since, work_us = self._waiting[request_id]
            age_us = at - since
            overdue = age_us >= FORCE_US
            return not overdue, -age_us if overdue else work_us - AGE_WEIGHT * age_us

        request_id = min(self._waiting, key=order)
        return request_id, at - self._waiting[request_id][0] >= FORCE_US
