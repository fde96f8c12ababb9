"""What of the prompt an endpoint would have to compute."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import lookup, maximum


class PromptLeft:
    """Prompt tokens, without the beginning that we sent there before if it is a fair share of the prompt."""

    name = "left"
    unit = "tokens"
    least_wins = True

    def __init__(self, least_match: float) -> None:
        """`least_match` is the share of the prompt, 0..1, from which on a match counts."""
        self._least_match = least_match

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Tokens, >= 0."""
        held = lookup(ask.cached_tokens, e.slot)
        return maximum(ask.prompt_tokens - held * (held >= self._least_match * ask.prompt_tokens), 0.0)
