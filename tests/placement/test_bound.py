"""The bound of consistent hashing with bounded loads."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.placement.bound import beyond_bound

counts = st.lists(st.integers(0, 50).map(float), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("loads", "beyond"),
    [
        ([20.0, 0.0], [7.0, 0.0]),  # ceil(1.25 x 21 / 2) = 14 may be there, the new one counted
        ([13.0, 0.0], [5.0, 0.0]),  # ceil(8.75) = 9, ...
        ([4.0, 4.0], [0.0, 0.0]),  # ... ceil(5.625) = 6
        ([5.0], [0.0]),
    ],
)
def test_loads_beyond_the_bound_by_hand(loads, beyond):
    assert beyond_bound(1.25, 0)(loads, None) == beyond
    assert beyond_bound(1.25, 0)(np.array(loads), None).tolist() == beyond


def test_so_many_are_always_within_the_bound():
    assert beyond_bound(1.25, 0)([1.0, 0.0, 0.0, 0.0], None) == [1.0, 0.0, 0.0, 0.0]
    assert beyond_bound(1.25, 2)([1.0, 0.0, 0.0, 0.0], None) == [0.0, 0.0, 0.0, 0.0]
    assert beyond_bound(1.25, 2)([2.0, 0.0, 0.0, 0.0], None) == [1.0, 0.0, 0.0, 0.0]


def test_nobody_is_beyond_where_nobody_is():
    assert beyond_bound(1.25, 2)([], None) == []
    assert beyond_bound(1.25, 2)(np.array([]), None).tolist() == []


@given(counts, st.floats(1, 4))
def test_one_more_always_finds_room_and_leaves_all_within_the_factor(loads, factor):
    beyond = beyond_bound(factor, 0)(loads, None)
    room = [index for index, excess in enumerate(beyond) if not excess]
    assert room
    most = math.ceil(factor * (sum(loads) + 1) / len(loads))
    assert all(loads[index] + 1 <= most for index in room)
    assert all(loads[index] + 1 > most for index, excess in enumerate(beyond) if excess)


@given(st.lists(st.floats(0, 1e4), max_size=12), st.floats(1, 4), st.integers(0, 5))
def test_lists_and_arrays_agree_to_the_last_bit(loads, factor, always):
    scale = beyond_bound(factor, always)
    assert scale(loads, None) == scale(np.array(loads), None).tolist()
