"""Slack: who would show the first token much later than the quickest is no choice, however idle its cache."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.cost import prompt_us
from forebay.placement.scales import Scale
from forebay.placement.steps import wait_us

# Outweighs every other term, which are seconds of answers; 1e9 of them leave a float 24 bits of a second's fraction.
DROPPED = 1e9


class FirstToken:
    """Seconds until the first token there."""

    name = "first-token"
    unit = "seconds"
    least_wins = True

    def __init__(self, trust_us: float) -> None:
        """`trust_us` is the age at which a scrape counts half."""
        self._trust_us = trust_us

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, > 0."""
        return (wait_us(ask, e, self._trust_us) + prompt_us(ask, e)) * 1e-6


def behind(slack: float) -> Scale:
    """A scale: 0 within `slack` mean first tokens of the quickest, else 1e9 and the seconds beyond the quickest."""

    def late(seconds: Quantity, ask: Ask) -> Quantity:
        most = slack * ask.pace.first_token_seconds
        if isinstance(seconds, list):
            least = min(seconds, default=0.0)
            return [DROPPED + each - least if each - least > most else 0.0 for each in seconds]
        excess = seconds - seconds.min(initial=float("inf"))
        return (DROPPED + excess) * (excess > most)

    return late
