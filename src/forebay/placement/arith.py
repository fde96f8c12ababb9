"""The few operations that differ between one number and an array, so that a policy need not care which it has.

Which one it has is told by what a comparison gives: True or False for numbers, an array for arrays. That costs a third
of asking for the type.
"""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray

from forebay.domain.facts import Quantity


def maximum(x: Quantity, y: Quantity) -> Quantity:
    """The larger, element by element. Neither may be NaN."""
    larger = x >= y
    if larger is True:
        return x
    return y if larger is False else np.maximum(x, y)


def minimum(x: Quantity, y: Quantity) -> Quantity:
    """The smaller, element by element. Neither may be NaN."""
    smaller = x <= y
    if smaller is True:
        return x
    return y if smaller is False else np.minimum(x, y)


def clamp(x: Quantity, low: float, high: float) -> Quantity:
    """`x` within low..high, element by element; `low` where it is not known."""
    above = x > low
    if above is False:
        return low
    if above is True:
        return x if x < high else high  # noqa: FURB136  # half the price of min() on the hot path
    return np.fmin(np.fmax(x, low), high)


def nothing(x: Quantity) -> bool:
    """Whether `x` (>= 0, or NaN) is one number that is 0 or not known: what it multiplies need not be worked out."""
    return (x > 0.0) is False


def unknown(x: Quantity) -> Quantity:
    """Flag: the value is not known (NaN)."""
    return x != x  # noqa: PLR0124  # the one test of NaN that both shapes share


def known(x: Quantity, default: Quantity) -> Quantity:
    """The value, or `default` where it is not known."""
    same = x == x  # noqa: PLR0124  # NaN is the one value unlike itself
    if same is True:
        return x
    return default if same is False else np.where(same, x, default)


def lookup(amounts: Mapping[int, float], slot: Quantity) -> Quantity:
    """What the mapping has for each slot, 0.0 where it has nothing. Slots are small non-negative ints."""
    if not amounts:
        return 0.0
    if not isinstance(slot, ndarray):
        return amounts.get(slot, 0.0)
    dense = np.zeros(max(int(slot.max(initial=0)), *amounts) + 1)
    dense[list(amounts)] = list(amounts.values())
    return dense[slot]


def lacking(wanted: float, amounts: Mapping[int, float], slot: Quantity, least: float) -> Quantity:
    """What is wanted beyond what the mapping has for each slot, but at least `least`."""
    return maximum(wanted - lookup(amounts, slot) if amounts else wanted, least)
