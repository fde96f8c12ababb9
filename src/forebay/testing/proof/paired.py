"""Paired comparison: the same seeds under two policies, and what may be said of the difference."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

# Student's t at 97.5 %, by degrees of freedom; from any table. Beyond the last the normal's 1.96 is near enough.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip
_NORMAL = 1.96

NOT_BEHIND = 0.02
"""`Not behind`: the interval's upper end is below this."""


class Change(NamedTuple):
    """Ours / theirs - 1: its mean over seeds, and the ends of its 95 % interval. Less is better for every figure here."""

    mean: float
    low: float
    high: float

    @property
    def better(self) -> bool:
        """Whether the interval lies below 0."""
        return self.high < 0

    @property
    def worse(self) -> bool:
        """Whether the interval lies above 0."""
        return self.low > 0

    @property
    def not_behind(self) -> bool:
        """Whether we are at most 2 % worse, surely."""
        return self.high < NOT_BEHIND


def change(ours: Sequence[float], theirs: Sequence[float]) -> Change:
    """Of one figure, a value of each for each seed, in the same order. Seeds where theirs is 0 say nothing.

    Raises ValueError when none is left.
    """
    ratios = [mine / other - 1 for mine, other in zip(ours, theirs, strict=True) if other > 0]
    if not ratios:
        raise ValueError("no seed to compare by")
    mean = statistics.fmean(ratios)
    if len(ratios) == 1:
        return Change(mean, -math.inf, math.inf)
    freedom = len(ratios) - 1
    quantile = _T[freedom - 1] if freedom <= len(_T) else _NORMAL
    half = quantile * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return Change(mean, mean - half, mean + half)
