"""Endpoints with room for one more request."""

from forebay.domain.facts import Ask, Facts, Quantity


class HasRoom:
    """Keeps endpoints where fewer requests of ours are open than their `max_in_flight`.

    Last of the filters, so that a pool which it empties is full, and not unfit.
    """

    name = "saturation"
    standing = False

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        del ask
        return e.in_flight < e.max_in_flight
