"""The 95th percentile of the gaps between tokens on one endpoint."""

import math

# Buckets grow by a quarter octave (19 %) from 1 ms to 2^(64/4) ms = 65 s: finer than the gaps of two runs agree.
BUCKETS_PER_OCTAVE = 4
BUCKETS = 64
FIRST_US = 1000.0

QUANTILE = 0.95

# Each new gap weighs 1/128 more than the one before it, so that about the last 128 count: six above the percentile.
GROWTH = 1.0 + 1.0 / 128.0

# Beyond this the weights are brought down again, far from where a float would overflow.
HEAVIEST = 1e12


class Gaps:
    """A decaying histogram in logarithmic buckets.

    It is fed the largest gap of each telling (half a second of one stream), so it leans to the high side: what is
    wanted is how badly a stream stutters there.
    """

    __slots__ = ("_counts", "_total", "_weight")

    def __init__(self) -> None:
        self._counts = [0.0] * BUCKETS
        self._total = 0.0
        self._weight = 1.0

    def add(self, gap_us: float) -> None:
        """One gap. 0 and less is ignored: there was none."""
        if gap_us <= 0:
            return
        bucket = int(math.log2(max(gap_us / FIRST_US, 1.0)) * BUCKETS_PER_OCTAVE)
        self._counts[min(bucket, BUCKETS - 1)] += self._weight
        self._total += self._weight
        self._weight *= GROWTH
        if self._weight > HEAVIEST:
            self._counts = [count / self._weight for count in self._counts]
            self._total /= self._weight
            self._weight = 1.0

    def p95_us(self) -> float:
        """The geometric middle of the bucket that the percentile falls into; NaN before the first gap."""
        above = (1.0 - QUANTILE) * self._total
        for bucket in range(BUCKETS - 1, -1, -1):
            above -= self._counts[bucket]
            if above < 0.0:
                return FIRST_US * math.pow(2.0, (bucket + 0.5) / BUCKETS_PER_OCTAVE)
        return math.nan
