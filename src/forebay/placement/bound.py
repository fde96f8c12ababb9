"""A scale for loads: who holds more than a bounded share, and by how much."""

import math

import numpy as np

from forebay.domain.facts import Ask, Quantity
from forebay.placement.scales import Scale


def beyond_bound(factor: float, always: float) -> Scale:
    """A scale that gives 0 where one more request keeps within the bound, else how many requests it would pass it by.

    Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, SODA 2018, arXiv:1608.01350): n endpoints
    with m requests, the new one counted, hold at most ceil(factor x m / n) each. With `factor` >= 1 some endpoint has
    room whenever loads are whole. Up to `always` requests are within the bound whatever the others hold.
    """

    def beyond(loads: Quantity, _ask: Ask) -> Quantity:
        is_array = isinstance(loads, np.ndarray)
        # fsum rounds once, so that the sum is the same number over a list and over an array.
        total = math.fsum(loads.tolist() if is_array else loads)
        room = max(always, math.ceil(factor * (total + 1.0) / max(len(loads), 1))) - 1.0
        if is_array:
            return np.maximum(loads - room, 0.0)
        return [load - room if load > room else 0.0 for load in loads]

    return beyond
