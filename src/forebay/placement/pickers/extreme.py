"""The least or the highest total."""

import random

import numpy as np

from forebay.domain.facts import Quantity


class Least:
    """Takes the least total; among exactly equal ones, any, with equal chance."""

    least_wins = True

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index of a least total."""
        return _any_of(totals, totals.min() if isinstance(totals, np.ndarray) else min(totals), rng)


class Highest:
    """Takes the highest total; among exactly equal ones, any, with equal chance."""

    least_wins = False

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index of a highest total."""
        return _any_of(totals, totals.max() if isinstance(totals, np.ndarray) else max(totals), rng)


def _any_of(totals: Quantity, wanted: float, rng: random.Random) -> int:
    if isinstance(totals, np.ndarray):
        ties: list[int] = np.flatnonzero(totals == wanted).tolist()
    elif totals.count(wanted) == 1:
        return int(totals.index(wanted))
    else:
        ties = [index for index, total in enumerate(totals) if total == wanted]
    return ties[0] if len(ties) == 1 else ties[rng.randrange(len(ties))]
