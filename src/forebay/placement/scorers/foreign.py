"""Requests of strangers on an endpoint: a scraped value, weighted by its age."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import known, maximum


def foreign_requests(ask: Ask, e: Facts, of_these: Quantity, trust_us: float) -> Quantity:
    """How many of the scraped requests `of_these` (running or waiting) are believed to be strangers' and still there.

    Strangers are spread over running and waiting alike. A view of age `trust_us` counts half, and the weight falls
    as trust / (trust + age): an exponential would say the same of fresh views, and differ in its last bits between
    one number and an array. 0 when not known.
    """
    scraped = known(e.running, 0.0) + known(e.waiting, 0.0)
    age = maximum(ask.at - known(e.viewed_at, ask.at), 0.0)
    share = of_these / maximum(scraped, 1.0)
    return known(e.foreign, 0.0) * share * (trust_us / (trust_us + age))
