"""Tokens of own requests in an endpoint's KV cache: load that tells a long prompt from a short one."""

from forebay.domain.facts import Ask, Facts, Quantity


class OpenTokens:
    """Prompt and output tokens of own open requests there, with all that this one will hold."""

    name = "tokens"
    unit = "tokens"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Tokens, > 0, as many times more as a fresh replica's ramp is small."""
        return (e.kv_tokens + ask.demand.kv_tokens) / e.ramp
