"""Endpoints whose context can hold the prompt."""

from forebay.domain.facts import Ask, Facts, Quantity


class FitsContext:
    """Drops endpoints whose known context is shorter than the part of the prompt that is sure.

    Media tokens are sure when the demand is exact. Text tokens, those of the template around each message with them,
    are an estimate, so only `text_share` (0..1) of them counts: an engine refuses in a clear voice what is really too
    long, while a wrong estimate here would refuse what fits. Of several prompts each is a sequence of its own, and the
    longest is at least as long as their mean.
    """

    name = "context"
    standing = False

    def __init__(self, text_share: float) -> None:
        self._text_share = text_share

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag. An unknown context holds anything."""
        demand = ask.demand
        media_share = 1.0 if demand.exact else self._text_share
        sure = (media_share * ask.media_tokens + self._text_share * demand.text_tokens) / demand.prompts
        # "Not less than" keeps NaN; XOR is the one "not" that both shapes share.
        return (e.context_tokens < sure) ^ True
