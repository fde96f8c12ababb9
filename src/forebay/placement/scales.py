"""Between a raw score and its weight: what a number means beside the others of its pool.

A scale takes the raw scores of all candidates, a list of floats or a float64 array, NaN for unknown, with the ask, and
gives the same shape back, all finite.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from forebay.domain.facts import Ask, Quantity

Scale: TypeAlias = Callable[[Quantity, Ask], Quantity]


def as_is(scores: Quantity, _ask: Ask) -> Quantity:
    """The raw scores, for scorers that always know."""
    return scores


def neutral(scores: Quantity, _ask: Ask) -> Quantity:
    """The raw scores, with the mean of the known in place of the unknown: neither good nor bad. 0 if none is known."""
    known = _known(scores)
    if len(known) == len(scores):
        return scores
    # fsum rounds once, so that the mean is the same number over a list and over an array.
    mean = math.fsum(known) / len(known) if known else 0.0
    if isinstance(scores, np.ndarray):
        return np.where(np.isnan(scores), mean, scores)
    return [mean if math.isnan(score) else score for score in scores]


def least_is_one(scores: Quantity, ask: Ask) -> Quantity:
    """Min-max over the pool: the least score becomes 1, the greatest 0, all 1 when they are equal; unknown the mean."""
    known = _known(scores)
    least, most = min(known, default=0.0), max(known, default=0.0)
    span = most - least or 1.0
    if isinstance(scores, np.ndarray):
        return neutral(1.0 - (scores - least) / span, ask)
    return neutral([1.0 - (score - least) / span for score in scores], ask)


def _known(scores: Quantity) -> list[float]:
    """The scores that are not NaN, as a list."""
    if isinstance(scores, np.ndarray):
        kept: list[float] = scores[~np.isnan(scores)].tolist()
        return kept
    return [score for score in scores if score == score]  # noqa: PLR0124  # NaN is the one value unlike itself
