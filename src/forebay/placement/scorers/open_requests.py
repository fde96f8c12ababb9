"""Requests open at an endpoint, whoever sent them."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import known, nothing, unknown


class OpenRequests:
    """Own requests in flight, and those of strangers as last scraped, weighted by their age."""

    unit = "requests"
    least_wins = True

    def __init__(self, view_trust_seconds: float, name: str = "requests") -> None:
        """`view_trust_seconds` is the age at which a scrape counts half; `name` says what a profile makes of them."""
        self.name = name
        self._trust_us = view_trust_seconds * 1e6

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Requests, >= 0, as many times more as a fresh replica's ramp is small; see InFlight."""
        return (e.in_flight + self._strangers(ask, e) + 1.0) / e.ramp - 1.0

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: what strangers have there is not known; none is assumed."""
        del ask
        return unknown(e.foreign)

    def _strangers(self, ask: Ask, e: Facts) -> Quantity:
        if nothing(e.foreign):
            return 0.0
        return known(e.foreign * self._trust_us / (self._trust_us + ask.at - e.viewed_at), 0.0)
