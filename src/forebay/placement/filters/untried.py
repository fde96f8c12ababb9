"""Endpoints where this request has not failed yet."""

from forebay.domain.facts import Ask, Facts, Quantity


class Untried:
    """Drops the slots that the ask names as tried, so that a retry goes elsewhere."""

    name = "tried"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        keep: Quantity = True
        for slot in ask.tried:
            keep = keep & (e.slot != slot)
        return keep
