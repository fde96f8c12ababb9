"""The few operations that differ between one number and an array, so that a policy need not care which it has."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray

from forebay.domain.facts import Quantity


def maximum(x: Quantity, y: Quantity) -> Quantity:
    """The larger, element by element. Neither may be NaN."""
    if isinstance(x, ndarray) or isinstance(y, ndarray):
        return np.maximum(x, y)
    return x if x >= y else y  # noqa: FURB136  # half the price of max() on the hot path


def minimum(x: Quantity, y: Quantity) -> Quantity:
    """The smaller, element by element. Neither may be NaN."""
    if isinstance(x, ndarray) or isinstance(y, ndarray):
        return np.minimum(x, y)
    return x if x <= y else y  # noqa: FURB136  # half the price of min() on the hot path


def clamp(x: Quantity, low: float, high: float) -> Quantity:
    """`x` within low..high, element by element; `low` where it is not known."""
    if isinstance(x, ndarray):
        return np.fmin(np.fmax(x, low), high)
    return x if low < x < high else high if x >= high else low


def unknown(x: Quantity) -> Quantity:
    """Flag: the value is not known (NaN)."""
    return x != x  # noqa: PLR0124  # the one test of NaN that both shapes share


def known(x: Quantity, default: Quantity) -> Quantity:
    """The value, or `default` where it is not known."""
    if isinstance(x, ndarray):
        return np.where(np.isnan(x), default, x)
    return x if x == x else default  # noqa: PLR0124  # NaN is the one value unlike itself


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
    if not amounts:
        return wanted if wanted >= least else least  # noqa: FURB136  # half the price of max() on the hot path
    return maximum(wanted - lookup(amounts, slot), least)
