"""Scales over lists and arrays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.placement.scales import as_is, least_is_one, neutral

scores = st.lists(st.floats(0, 1e6) | st.just(math.nan), min_size=1, max_size=40)


def test_as_is_changes_nothing():
    assert as_is([1.0, 2.0], None) == [1.0, 2.0]


def test_unknown_becomes_the_mean_of_the_known():
    assert neutral([1.0, math.nan, 3.0], None) == [1.0, 2.0, 3.0]
    assert neutral([1.0, 2.0], None) == [1.0, 2.0]
    assert neutral([math.nan], None) == [0.0]


def test_least_is_one_and_most_is_zero():
    assert least_is_one([4.0, 0.0, 1.0], None) == [0.0, 1.0, 0.75]
    assert least_is_one([2.0, 2.0], None) == [1.0, 1.0]
    assert least_is_one([0.0, math.nan, 4.0], None) == [1.0, 0.5, 0.0]
    assert least_is_one([math.nan, math.nan], None) == [0.0, 0.0]


@pytest.mark.parametrize("scale", [as_is, neutral, least_is_one])
@given(values=scores)
def test_a_list_and_an_array_give_the_same_numbers(scale, values):
    over_array = scale(np.array(values), None).tolist()
    assert over_array == pytest.approx(scale(values, None), rel=0, abs=0, nan_ok=True)
    if scale is not as_is:
        assert all(map(math.isfinite, over_array))
