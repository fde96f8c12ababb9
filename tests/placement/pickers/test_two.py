"""The better of two."""

import random
from collections import Counter

import numpy as np
import pytest

from forebay.placement.pickers.two import LessOfTwo


@pytest.mark.parametrize("shape", [list, np.array])
def test_the_worst_of_all_is_never_taken_and_the_best_most_often(shape):
    rng = random.Random(3)
    taken = Counter(LessOfTwo().pick(shape([3.0, 1.0, 4.0, 2.0]), rng) for _ in range(6000))
    # Of 6 pairs 3 hold the best one, 2 the second without the best, 1 the third.
    assert set(taken) == {0, 1, 3}
    assert [round(taken[index] / 1000) for index in (1, 3, 0)] == [3, 2, 1]


def test_equal_ones_share_the_load():
    rng = random.Random(3)
    taken = Counter(LessOfTwo().pick([1.0, 1.0, 1.0], rng) for _ in range(3000))
    assert all(900 < taken[index] < 1100 for index in range(3))


def test_a_single_one_is_taken_without_a_draw():
    rng = random.Random(3)
    before = rng.getstate()
    assert LessOfTwo().pick([5.0], rng) == 0
    assert rng.getstate() == before
