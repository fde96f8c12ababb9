"""Visual throughput: how long this request would wait for its first token there."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import known, lookup, maximum, minimum, unknown
from forebay.placement.cost import price
from forebay.placement.scorers.foreign import foreign_requests

# A prompt of a stranger, whose size no scrape tells: the mean of the Azure conversation trace of 2023 (19,366
# requests, 1,154.7 context tokens; AzurePublicDataset, CC-BY-4.0).
FOREIGN_PROMPT_TOKENS = 1155.0

# A request that arrives at a random moment finds half of the running decode step still to come.
STEP_LEFT = 0.5


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
        cached, encoded = lookup(ask.cached_tokens, e.slot), lookup(ask.encoded_patches, e.slot)
        own_us = price(ask.demand, cached, encoded, e).prompt_us
        return (self._wait_us(ask, e) + own_us) / e.ramp * 1e-6

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: what strangers have waiting there is not known; none is assumed, as own books are exact."""
        del ask
        return unknown(e.foreign) | unknown(e.waiting)

    def _wait_us(self, ask: Ask, e: Facts) -> Quantity:
        strangers = foreign_requests(ask, e, known(e.waiting, 0.0), self._trust_us)
        stranger_us = FOREIGN_PROMPT_TOKENS * e.prefill_us_per_token
        step_us = STEP_LEFT * minimum(e.decoding, 1.0) * e.decode_us_per_token
        return aged_backlog_us(ask.at, e) + strangers * stranger_us + step_us


def aged_backlog_us(at: int, e: Facts) -> Quantity:
    """Own work there without a first token, less what must be done by now of the oldest one's, >= 0.

    Ageing stops at the oldest one's price: an engine slower than believed is not thought to have caught up.
    """
    done = minimum(maximum(at - e.progressed_at, 0.0), e.head_us)
    return maximum(e.backlog_us - done, 0.0)
