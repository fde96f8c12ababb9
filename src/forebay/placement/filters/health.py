"""Endpoints that are well, as far as breakers and cool-downs tell."""

from forebay.domain.facts import Ask, Facts, Quantity


class Usable:
    """Keeps endpoints whose breaker lets a request through."""

    name = "health"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        del ask
        return e.usable != 0.0
