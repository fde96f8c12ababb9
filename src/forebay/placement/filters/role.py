"""Endpoints that run the stages wanted."""

from forebay.domain.ability import Role
from forebay.domain.facts import Ask, Facts, Quantity


class HasRole:
    """Keeps endpoints that run every stage of `role`."""

    name = "role"
    standing = True

    def __init__(self, role: Role = Role.ALL) -> None:
        self._role = int(role)

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        del ask
        return (e.roles & self._role) == self._role
