"""Endpoints whose encoder can take the request's largest medium."""

from forebay.domain.facts import Ask, Facts, Quantity


class FitsEncoder:
    """Drops endpoints whose encoder budget, in tokens, is less than the price of one item of the request.

    An engine encodes an item whole, and sets the room for it aside at its start, so that the largest item decides and not
    their sum. A fallback price counts like an exact one, since the budget and the fallback are both the owner's own settings;
    but media by URL, which nobody here has seen, are left to the engine.
    """

    name = "encoder-budget"
    standing = False

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag. Without a budget anything fits."""
        return ask.largest_item_tokens <= e.encoder_budget_tokens
