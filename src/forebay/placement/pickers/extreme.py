"""The least or the highest total."""

import random

import numpy as np

from forebay.domain.facts import Quantity


class Least:
    """Takes the least total; among exactly equal ones, any, with equal chance."""

    least_wins = True

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index of a least total."""
        return _any_of(totals, min(totals) if isinstance(totals, list) else totals.min(), rng)


class Highest:
    """Takes the highest total; among exactly equal ones, any, with equal chance."""

    least_wins = False

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index of a highest total."""
        return _any_of(totals, max(totals) if isinstance(totals, list) else totals.max(), rng)


def _any_of(totals: Quantity, wanted: float, rng: random.Random) -> int:
    if isinstance(totals, list):
        ties = [index for index, total in enumerate(totals) if total == wanted]
    else:
        ties = np.flatnonzero(totals == wanted).tolist()
    # A quarter of the price of randrange(), and for so few as even.
    return ties[0] if len(ties) == 1 else ties[int(rng.random() * len(ties))]
