"""The three axes of a profile. Each is one or two methods; a new policy is one small file that has them."""

import random
from typing import Protocol, runtime_checkable

from forebay.domain.facts import Ask, Facts, Quantity


class Filter(Protocol):
    """Says which endpoints may serve a request at all."""

    @property
    def name(self) -> str:
        """A word for the trace."""
        ...

    @property
    def standing(self) -> bool:
        """Whether `keep` reads but `ask.needs`, `ask.tried` and other slots of the ask, the slot and the endpoint's standing (`PoolFacts`)."""
        ...

    def keep(self, ask: Ask, e: Facts) -> Quantity:
        """Flag, true to keep: bool or array of bool. What is not known never drops an endpoint."""
        ...


class Scorer(Protocol):
    """Puts one number on an endpoint for a request.

    `unit` names the number's unit, and `least_wins` its sense. All scorers of a profile share one sense.
    """

    @property
    def name(self) -> str:
        """A word for the trace."""
        ...

    @property
    def unit(self) -> str:
        """Unit of the raw score: seconds, requests, a share ..."""
        ...

    @property
    def least_wins(self) -> bool:
        """Whether less is better."""
        ...

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """The raw score: finite, or NaN where it is not known and the profile's scale can tell what to put instead."""
        ...


@runtime_checkable
class Unsure(Protocol):
    """A scorer that may lack a part of its score, and says so for the trace."""

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: a part of the score is not known and was left out."""
        ...


class Picker(Protocol):
    """Chooses among weighted totals."""

    @property
    def least_wins(self) -> bool:
        """Which end of the scale it takes; must agree with the scorers."""
        ...

    def pick(self, totals: Quantity, rng: random.Random) -> int:
        """Index into `totals`: a list of floats or a float64 array, not empty, all finite."""
        ...
