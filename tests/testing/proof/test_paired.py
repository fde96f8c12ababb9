"""What may be said of a difference."""

import math

import pytest

from forebay.testing.proof.paired import change


def test_a_difference_is_taken_seed_by_seed():
    found = change([0.9, 1.8, 2.7], [1.0, 2.0, 3.0])
    assert found.mean == pytest.approx(-0.1)
    assert found.low == pytest.approx(found.high)
    assert found.better
    assert found.not_behind
    assert not found.worse


def test_the_interval_is_students():
    # Changes of 0, 10 and 20 %: mean 10 %, standard deviation 10 %, t(2) = 4.303.
    found = change([1.0, 1.1, 1.2], [1.0, 1.0, 1.0])
    assert found.mean == pytest.approx(0.1)
    assert found.high - found.mean == pytest.approx(4.303 * 0.1 / math.sqrt(3))
    assert (found.better, found.worse, found.not_behind) == (False, False, False)


def test_one_seed_says_nothing_surely():
    found = change([1.0], [2.0])
    assert (found.mean, found.low, found.high) == (-0.5, -math.inf, math.inf)
    assert not found.better


def test_many_seeds_use_the_normal():
    found = change([1.0 + 0.001 * (n % 2) for n in range(60)], [1.0] * 60)
    assert 0 < found.low < found.mean < found.high < 0.001
    assert found.worse


def test_seeds_without_a_figure_are_left_out():
    assert change([1.0, 3.0], [0.0, 2.0]).mean == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no seed"):
        change([1.0], [0.0])
