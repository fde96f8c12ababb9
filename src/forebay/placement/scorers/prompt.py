"""The prompt: what its work costs the request itself, and everyone who is there."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.cost import prompt_us
from forebay.placement.scorers.foreign import strangers
from forebay.placement.worth import PerAsk

# Who waits behind this prompt is delayed by it, but some would have been overtaken by its stall anyway: the prototype's 0.7.
WAITING_SHARE = 0.7


class PromptWork:
    """Seconds of own work before the first token, and of the stall that it puts on each stream and each one waiting."""

    name = "prompt"
    unit = "seconds"
    least_wins = True

    def __init__(self, worth: PerAsk, own: float, stall: float, trust_us: float) -> None:
        """`own` is the weight of its own work beside a wait as long; `stall` the share of it that a stream stands still."""
        self._worth = worth
        self._own = own
        self._stall = stall
        self._trust_us = trust_us

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, > 0. A fresh replica counts as slower by its ramp."""
        streams = e.decoding + strangers(ask, e, e.running, self._trust_us)
        stalled = streams + WAITING_SHARE * (e.in_flight - e.decoding)
        own = self._own * self._worth(ask)
        return prompt_us(ask, e) * (own / e.ramp + self._stall * stalled) * 1e-6
