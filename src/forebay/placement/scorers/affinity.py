"""Affinity: what it would cost to do again here what another endpoint has done already."""

from collections.abc import Mapping

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import lookup


class Affinity:
    """Seconds of encode and prefill that are spared elsewhere, for each of those whom they would hold up here.

    The price of the work itself is part of the prompt's. This is what comes after: a second copy in the caches pushes
    out something else, which will have to be done again in its turn.
    """

    name = "affinity"
    unit = "seconds"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, >= 0; 0 where nobody holds anything of it."""
        if not ask.encoded_patches and not ask.cached_tokens:
            return 0.0
        patches = _lacking(ask.encoded_patches, e.slot)
        tokens = _lacking(ask.cached_tokens, e.slot)
        work_us = patches * e.encode_us_per_patch + tokens * e.prefill_us_per_token
        return work_us * (e.decoding + 1.0) * 1e-6


def _lacking(held: Mapping[int, float], slot: Quantity) -> Quantity:
    """How much less the endpoint holds than the one that holds most."""
    return max(held.values()) - lookup(held, slot) if held else 0.0
