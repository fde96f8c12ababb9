"""Visual throughput: how long this request would wait for its first token there."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import unknown
from forebay.placement.cost import prompt_us
from forebay.placement.scorers.foreign import strangers
from forebay.placement.steps import FOREIGN_PROMPT_TOKENS, STEP_LEFT, aged_backlog_us


class VisualThroughput:
    """Seconds until the first token: own backlog there, strangers waiting there, the batch it joins, its own work."""

    name = "visual"
    unit = "seconds"
    least_wins = True

    def __init__(self, view_trust_seconds: float) -> None:
        """`view_trust_seconds` is the age at which a scrape counts half."""
        self._trust_us = view_trust_seconds * 1e6

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, > 0. A fresh replica counts as slower by its ramp, so that it is not flooded while it warms up."""
        queued_us = (
            strangers(ask, e, e.waiting, self._trust_us) * FOREIGN_PROMPT_TOKENS * e.prefill_us_per_token
        )
        step_us = STEP_LEFT * (e.decoding > 0.0) * e.decode_us_per_token
        return (aged_backlog_us(ask.at, e) + queued_us + step_us + prompt_us(ask, e)) / e.ramp * 1e-6

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: what strangers have waiting there is not known; none is assumed, as own books are exact."""
        del ask
        return unknown(e.foreign + e.running + e.waiting)
