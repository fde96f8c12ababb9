"""Which pictures come again. No public trace tells: so it is declared."""

import bisect
import itertools
import random
from typing import Annotated

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.bounds import Count, NotNegative
from forebay.simulator.workloads.ask import Medium

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Reuse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which share of the asks with pictures takes them from a pool of albums, of which some are more wanted than others.

    The album of rank r is asked for in proportion to r^-exponent. 0.9 is in the middle of what is told of web objects (0.64 to
    0.83, Breslau et al. 1999, and about 1 since).
    """

    share: Share = 0.0
    pool: Count = 1_500
    exponent: NotNegative = 0.9


class Pictures:
    """Mutable: remembers each album's pictures, so that what comes again is the same."""

    def __init__(self, reuse: Reuse, rng: random.Random) -> None:
        """`rng` draws identities, and who comes again."""
        self._reuse = reuse
        self._rng = rng
        self._salt = rng.getrandbits(60) << 64
        weights = ((rank + 1) ** -reuse.exponent for rank in range(reuse.pool))
        self._upto = list(itertools.accumulate(weights))
        self._albums: dict[int, tuple[Medium, ...]] = {}

    def album(self, count: int, tokens: int) -> tuple[Medium, ...]:
        """So many pictures of so many tokens each; other ones, with their own sizes, when an album comes again."""
        if not count or tokens <= 0:
            return ()
        if not self._upto or self._rng.random() >= self._reuse.share:
            return self._fresh(self._rng.getrandbits(60), count, tokens)
        number = bisect.bisect(self._upto, self._rng.random() * self._upto[-1])
        number = min(number, len(self._upto) - 1)
        if number not in self._albums:
            self._albums[number] = self._fresh(number, count, tokens)
        return self._albums[number]

    def _fresh(self, number: int, count: int, tokens: int) -> tuple[Medium, ...]:
        first = self._salt + number * 1_024 + 1
        return tuple(Medium(Ability.IMAGE, tokens, first + place) for place in range(count))
