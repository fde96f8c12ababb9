"""The wait: how long before the endpoint turns to this request, in seconds of an answer."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import unknown
from forebay.placement.steps import wait_us
from forebay.placement.worth import PerAsk


class Wait:
    """Seconds before the request's own work begins, each worth as many seconds of an answer as first tokens are dear."""

    name = "wait"
    unit = "seconds"
    least_wins = True

    def __init__(self, worth: PerAsk, trust_us: float) -> None:
        """`worth` is that of a second; `trust_us` is the age at which a scrape counts half."""
        self._worth = worth
        self._trust_us = trust_us

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, >= 0. A fresh replica counts as slower by its ramp."""
        return wait_us(ask, e, self._trust_us) * (self._worth(ask) * 1e-6) / e.ramp

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: what strangers have waiting there is not known; none is assumed, as own books are exact."""
        del ask
        return unknown(e.foreign + e.running + e.waiting)
