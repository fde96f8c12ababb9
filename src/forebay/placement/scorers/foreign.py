"""Requests of strangers on an endpoint: a scraped value, weighted by its age."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import known, nothing

# Keeps an idle endpoint's 0 / 0 at 0, and is lost in the rounding of any other count.
TINY = 1e-30


def strangers(ask: Ask, e: Facts, of_these: Quantity, trust_us: float) -> Quantity:
    """How many of the scraped requests `of_these` (running or waiting) are strangers' and still there, >= 0.

    Strangers are spread over running and waiting alike. A view of age `trust_us` counts half, and the weight falls
    as trust / (trust + age): an exponential would say the same of fresh views, and differ in its last bits between
    one number and an array. 0 when any part is not known.
    """
    if nothing(e.foreign):
        return 0.0
    trust = trust_us / (trust_us + ask.at - e.viewed_at)
    return known(e.foreign * of_these / (e.running + e.waiting + TINY) * trust, 0.0)
