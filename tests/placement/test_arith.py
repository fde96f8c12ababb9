"""One number or an array: the same answer."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.placement.arith import clamp, known, lacking, lookup, maximum, minimum, nothing, unknown

numbers = st.floats(-1e9, 1e9)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5))
def test_maximum_and_minimum_agree_over_both_shapes(pairs):
    x, y = np.array(pairs).T
    assert maximum(x, y).tolist() == [maximum(a, b) for a, b in pairs] == [max(p) for p in pairs]
    assert minimum(x, y).tolist() == [minimum(a, b) for a, b in pairs] == [min(p) for p in pairs]


def test_a_number_may_meet_an_array():
    assert maximum(2.0, np.array([1.0, 3.0])).tolist() == [2.0, 3.0]
    assert minimum(2.0, np.array([1.0, 3.0])).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("x", "expected"), [(0.5, 1.0), (1.0, 1.0), (2.0, 2.0), (4.0, 4.0), (9.0, 4.0), (math.nan, 1.0)]
)
def test_clamp_keeps_within_bounds_and_puts_the_low_one_for_unknown(x, expected):
    assert clamp(x, 1.0, 4.0) == expected
    assert clamp(np.array([x]), 1.0, 4.0).tolist() == [expected]


def test_unknown_and_known():
    x = np.array([1.0, math.nan])
    assert unknown(x).tolist() == [unknown(1.0), unknown(math.nan)] == [False, True]
    assert known(x, 7.0).tolist() == [known(1.0, 7.0), known(math.nan, 7.0)] == [1.0, 7.0]


@given(
    st.dictionaries(st.integers(0, 9), st.floats(0, 1e6), max_size=5), st.lists(st.integers(0, 7), min_size=1)
)
def test_lookup_and_lacking_agree_over_both_shapes(amounts, slots):
    array = np.array(slots)
    assert np.broadcast_to(lookup(amounts, array), len(slots)).tolist() == [
        lookup(amounts, slot) for slot in slots
    ]
    beyond = np.broadcast_to(lacking(100, amounts, array, 1.0), len(slots)).tolist()
    assert beyond == [lacking(100, amounts, slot, 1.0) for slot in slots]
    assert all(1.0 <= amount <= 100.0 for amount in beyond)


def test_lacking_wants_the_least_of_nothing_too():
    assert lacking(0, {}, 3, 1.0) == 1.0


def test_nothing_is_one_number_that_is_zero_or_unknown():
    assert nothing(0.0)
    assert nothing(math.nan)
    assert not nothing(0.5)
    assert not nothing(np.zeros(2))
