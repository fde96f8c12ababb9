"""Endpoints that serve the pool's model."""

from forebay.domain.facts import Ask, Facts, Quantity


class ServesModel:
    """Keeps endpoints that list the model, and those whose list is not known."""

    name = "model"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag. NaN differs from 0, so that unknown is kept."""
        del ask
        return e.serves != 0.0
