"""Decode sensitivity: how much this request would stretch the answers that are streaming there."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import clamp, nothing, unknown
from forebay.placement.cost import prompt_us
from forebay.placement.scorers.foreign import strangers

# While a prompt is worked on, a stream there advances about half of the time: chunked prefill carries it along in
# steps that are longer. The coefficient that won in the prototype's ablations is the same 0.5.
STALLED_SHARE = 0.5

# A stall is felt as a share of a whole answer, a wait as a share of the time to first token. 200 tokens at 10 ms and
# a first token after 0.2 s make an answer 11 times as long as its first token; the prototype's weight of 1.8 per ratio
# makes a second of wait worth 1.8 x 11 = 20 seconds of stall.
ANSWER_PER_FIRST_TOKEN = 11.0
WAIT_PER_STALL = 1.8 * ANSWER_PER_FIRST_TOKEN

# An endpoint whose gaps are already 4 steps long at the 95th percentile is a bad place; that it be 400 tells no more.
# Below 1 the nominal step is wrong, not the endpoint better.
LEAST_STRAIN, MOST_STRAIN = 1.0, 4.0


class DecodeSensitivity:
    """Seconds of stall over all streams there, in seconds of waiting that weigh the same."""

    name = "decode"
    unit = "seconds"
    least_wins = True

    def __init__(self, view_trust_seconds: float) -> None:
        """`view_trust_seconds` is the age at which a scrape counts half."""
        self._trust_us = view_trust_seconds * 1e6

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, >= 0; 0 where nothing streams."""
        streams = e.decoding + strangers(ask, e, e.running, self._trust_us)
        if nothing(streams):
            return 0.0
        return streams * prompt_us(ask, e) * strain(e) * (STALLED_SHARE / WAIT_PER_STALL * 1e-6)

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: the gaps there, or the strangers' streams, are not known."""
        del ask
        return unknown(e.gap_p95_us + e.foreign + e.running + e.waiting)


def strain(e: Facts) -> Quantity:
    """P95 of the gaps seen there in nominal decode steps, clamped to 1..4; 1 when not known."""
    return clamp(e.gap_p95_us / e.decode_us_per_token, LEAST_STRAIN, MOST_STRAIN)
