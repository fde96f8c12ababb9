"""The end of the scale, and ties."""

import random
from collections import Counter

import numpy as np
import pytest

from forebay.placement.pickers.extreme import Highest, Least


@pytest.mark.parametrize("shape", [list, np.array])
def test_the_end_of_the_scale_is_taken(shape):
    totals = shape([2.0, 1.0, 3.0])
    assert Least().pick(totals, random.Random(0)) == 1
    assert Highest().pick(totals, random.Random(0)) == 2


@pytest.mark.parametrize("shape", [list, np.array])
def test_exact_ties_are_shared_at_random(shape):
    rng = random.Random(7)
    taken = Counter(Least().pick(shape([1.0, 2.0, 1.0, 1.0]), rng) for _ in range(3000))
    assert set(taken) == {0, 2, 3}
    assert all(900 < count < 1100 for count in taken.values())


def test_a_clear_choice_uses_up_no_chance():
    rng = random.Random(7)
    before = rng.getstate()
    Highest().pick([1.0, 2.0], rng)
    assert rng.getstate() == before
