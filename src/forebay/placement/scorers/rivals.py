"""The loads that rival balancers go by, as they count them."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import clamp, lookup

# From here on a cache is full, and k / (1 - k) has said all that it can.
FULLEST = 0.99


class TreeSize:
    """Tokens that the endpoint was ever given to remember, as a share below 1 that only parts those equal in all else."""

    name = "tree"
    unit = "share"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """0 <= share < 1."""
        del ask
        return e.sent_tokens / (e.sent_tokens + 1e6)


class UncachedTokens:
    """Prompt tokens of own open requests there that had to be computed."""

    name = "uncached"
    unit = "tokens"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Tokens, >= 0."""
        del ask
        return e.uncached_tokens


class Unstuck:
    """1 where the request has no reason to stick: too little of it is cached, or too much work is before it."""

    name = "unstuck"
    unit = "flag"
    least_wins = True

    def __init__(self, least_match: float, most_seconds: float) -> None:
        """`least_match` is a share of the prompt; `most_seconds` what the tokens in flight may take at the peak prefill rate."""
        self._least_match = least_match
        self._most_us = most_seconds * 1e6

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """0.0 or 1.0."""
        matched = lookup(ask.cached_tokens, e.slot) >= self._least_match * max(ask.prompt_tokens, 1)
        room = e.uncached_tokens * e.prefill_us_per_token <= self._most_us
        return 1.0 - 1.0 * (matched & room)


class TokenLoad:
    """Seconds that the tokens in flight there would take, and a penalty for a full KV cache."""

    name = "load"
    unit = "seconds"
    least_wins = True

    def __init__(self, kv_weight: float) -> None:
        """`kv_weight` x k / (1 - k) is the penalty for KV usage k."""
        self._kv_weight = kv_weight

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, >= 0; an unknown KV usage counts as 0."""
        del ask
        usage = clamp(e.kv_usage, 0.0, FULLEST)
        return e.kv_tokens * e.prefill_us_per_token * 1e-6 + self._kv_weight * usage / (1.0 - usage)
