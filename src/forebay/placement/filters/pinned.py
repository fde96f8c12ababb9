"""The one endpoint that holds what a request goes on from."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.domain.request import ANYWHERE


class Pinned:
    """Keeps the slot that the request names, or every one where it names none. It is never sent elsewhere in silence."""

    name = "pinned"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        return True if ask.only_slot == ANYWHERE else e.slot == ask.only_slot
