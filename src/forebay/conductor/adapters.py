"""The LoRA adapters of one pool: which names there are, and which endpoints have each."""

from collections.abc import Iterable, Mapping

from forebay.domain.endpoint import EndpointView


class Adapters:
    """Names that the plan declares and names that engines report, with the slots of those that can run them.

    An engine that lists its adapters has those and no other. One whose list is not known may have any. A declared name that
    no engine lists may be loaded by any: some load adapters when they are asked for them.
    """

    def __init__(self, declared: tuple[str, ...]) -> None:
        self._declared = declared
        self._slots: dict[str, frozenset[int] | None] = dict.fromkeys(declared)

    def __contains__(self, name: str) -> bool:
        return name in self._slots

    @property
    def names(self) -> Iterable[str]:
        """Every name, declared ones first. One that was reported once stays: a request may still wait for it."""
        return self._slots.keys()

    def slots(self, name: str) -> frozenset[int] | None:
        """Which endpoints may run the adapter; None for any, and for what is no adapter."""
        return self._slots.get(name)

    def adopt(self, declared: tuple[str, ...]) -> None:
        """Live by a new plan. Where its names are is found out by `locate`."""
        self._declared = declared
        self._slots = dict.fromkeys((*declared, *self._slots))

    def locate(self, slots: Iterable[int], views: Mapping[int, EndpointView]) -> None:
        """Find out anew which of the pool's endpoints, `slots`, have what, by what the eyes saw of each."""
        listed = {slot: view.adapters if (view := views.get(slot)) is not None else None for slot in slots}
        unknown = {slot for slot, names in listed.items() if names is None}
        reported = dict.fromkeys(name for names in listed.values() for name in names or ())
        for name in dict.fromkeys((*self._slots, *reported)):
            having = {slot for slot, names in listed.items() if names is not None and name in names}
            anywhere = not having and name in self._declared
            self._slots[name] = None if anywhere else frozenset(having | unknown)
