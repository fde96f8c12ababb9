"""The endpoint's place in the pool's order, for taking turns."""

from forebay.domain.facts import Ask, Facts, Quantity


class InOrder:
    """The slot as a number."""

    name = "order"
    unit = "slot"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Slot, >= 0."""
        del ask
        return e.slot * 1.0
