"""The next in order."""

import random

from forebay.domain.facts import Quantity


class NextInOrder:
    """Takes the least total that is greater than the last one taken, or the least of all when there is none.

    Totals are places in an order, the endpoints' slots say. Holds the last one: one picker serves one pool.
    """

    least_wins = True

    def __init__(self) -> None:
        self._last = -1.0

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index of the next total in order."""
        del rng
        order = list(totals)
        self._last = float(min((total for total in order if total > self._last), default=min(order)))
        return order.index(self._last)
