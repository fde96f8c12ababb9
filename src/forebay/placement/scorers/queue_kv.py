"""The three scraped or remembered signals of the Gateway API endpoint picker's default profile."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import lookup, minimum, unknown


class QueueDepth:
    """Requests waiting in the engine, as last scraped. Put on a scale where 1 is least, so more wins."""

    name = "queue"
    unit = "requests"
    least_wins = False

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Requests, >= 0, NaN unknown."""
        del ask
        return e.waiting

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: never scraped, or the engine does not tell."""
        del ask
        return unknown(e.waiting)


class FreeKv:
    """Free share of the KV cache, as last scraped."""

    name = "kv"
    unit = "share"
    least_wins = False

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """1 - usage, 0..1, NaN unknown."""
        del ask
        return 1.0 - e.kv_usage

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: never scraped, or the engine does not tell."""
        del ask
        return unknown(e.kv_usage)


class PrefixMatch:
    """Share of the prompt that the endpoint is believed to hold."""

    name = "prefix"
    unit = "share"
    least_wins = False

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Cached tokens over prompt tokens, 0..1."""
        return minimum(lookup(ask.cached_tokens, e.slot) / max(ask.demand.prompt_tokens, 1), 1.0)
