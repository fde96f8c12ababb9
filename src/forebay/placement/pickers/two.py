"""The better of two at random."""

import random

from forebay.domain.facts import Quantity


class LessOfTwo:
    """Takes the lesser of two different ones, drawn with equal chance; of equal ones, either with equal chance.

    Mitzenmacher, "The power of two choices in randomized load balancing" (IEEE TPDS 12(10), 2001): the longest queue
    grows as log log n instead of log n / log log n for one choice. Many gateways whose views are old do not herd, as
    they would on the one least of all.
    """

    least_wins = True

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index of the one taken. A single one is taken without a draw."""
        count = len(totals)
        if count == 1:
            return 0
        one = int(rng.random() * count)
        other = int(rng.random() * (count - 1))
        other += other >= one
        return one if totals[one] <= totals[other] else other
