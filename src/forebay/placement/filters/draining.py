"""Endpoints that still take new requests."""

from forebay.domain.facts import Ask, Facts, Quantity


class NotDraining:
    """Keeps endpoints that are not draining."""

    name = "draining"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        del ask
        return e.draining == 0.0
