"""Endpoints that can take what the request holds."""

from forebay.domain.facts import Ask, Facts, Quantity


class HasAbility:
    """Keeps endpoints with every ability that the request needs: its API, its modalities, its formats."""

    name = "ability"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        needs = ask.needs
        return (e.abilities & needs) == needs
