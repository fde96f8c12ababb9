"""Endpoints that have the LoRA adapter which the request names."""

from typing import Any

import numpy as np

from forebay.domain.facts import Ask, Facts, Quantity


class HasAdapter:
    """Keeps the slots that may run the request's adapter, or every one for a request of the model itself."""

    name = "adapter"
    standing = True

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag."""
        slots = ask.adapter_slots
        if slots is None:
            return True
        slot: Any = e.slot
        return slot in slots if isinstance(slot, int) else np.isin(slot, list(slots))
