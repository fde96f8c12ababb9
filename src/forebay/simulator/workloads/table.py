"""Distributions as the samples keep them: values with the share of draws up to each."""

from bisect import bisect_left
from collections.abc import Sequence

import msgspec


class Table(msgspec.Struct, frozen=True):
    """`upto[i]` of a million draws give `values[i]` or less; both rise. The last of `upto` is a million."""

    values: tuple[int, ...]
    upto: tuple[int, ...]

    def at(self, share: float) -> int:
        """The value below which `share` (0..1) of all draws lie."""
        return self.values[min(bisect_left(self.upto, share * 1e6), len(self.values) - 1)]

    @property
    def mean(self) -> float:
        """The mean of its draws."""
        starts = (0, *self.upto)
        return (
            sum(
                value * (end - start)
                for value, start, end in zip(self.values, starts, self.upto, strict=False)
            )
            / 1e6
        )


def shares(fields: int, uniform: Sequence[float], *, comonotone: bool) -> Sequence[float]:
    """A share for each of so many fields: one for all where they rise and fall together, else one for each."""
    return [uniform[0]] * fields if comonotone else uniform[:fields]
