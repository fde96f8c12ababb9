"""When a request had better wait in the gateway than in an engine."""

from forebay.domain.facts import Ask
from forebay.domain.placement import Placement
from forebay.placement.worth import PerAsk


class Patience:
    """Holds a request back while even the shortest wait is longer than `share` of the mean time to the first token.

    In an engine's queue it could not go anywhere else any more. Reads the first scorer of its profile, which must be `Wait`.
    """

    def __init__(self, share: float, worth: PerAsk) -> None:
        """`worth` is that of a second of waiting, as the scorer has it."""
        self._share = share
        self._worth = worth

    def holds(self, ask: Ask, placement: Placement) -> bool:
        """Whether to wait. `placement` has found a place."""
        waits = placement.scorers[0].values
        return bool(min(waits) > self._share * ask.pace.first_token_seconds * self._worth(ask))
