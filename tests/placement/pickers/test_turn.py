"""Turns."""

import random

import numpy as np
import pytest

from forebay.placement.pickers.turn import NextInOrder


@pytest.mark.parametrize("shape", [list, np.array])
def test_each_takes_its_turn_and_the_order_wraps(shape):
    picker, rng = NextInOrder(), random.Random(0)
    assert [picker.pick(shape([0.0, 1.0, 5.0]), rng) for _ in range(5)] == [0, 1, 2, 0, 1]


def test_one_that_is_missing_loses_its_turn_only():
    picker, rng = NextInOrder(), random.Random(0)
    assert picker.pick([0.0, 1.0, 2.0], rng) == 0
    assert picker.pick([0.0, 2.0], rng) == 1
    assert picker.pick([0.0, 1.0, 2.0], rng) == 0
