"""Learning how fast an endpoint is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.estimators.speed import Speed


def learned(*ratios):
    speed = Speed()
    for ratio in ratios:
        speed.learn(ratio * 1000, 1000)
    return speed.factor


def test_nothing_seen_is_as_declared():
    assert learned() == 1.0
    assert learned(0, -1) == 1.0


def test_nothing_is_learned_of_a_price_of_nothing():
    speed = Speed()
    speed.learn(100, 0)
    assert speed.factor == 1.0


def test_the_first_outcome_teaches_all():
    assert learned(16.0) == pytest.approx(16.0)


def test_what_one_has_too_much_the_next_one_lacks():
    assert learned(1.9, 0.1) == pytest.approx(1.0)


def test_large_work_tells_more():
    speed = Speed()
    speed.learn(9_000, 1_000)
    speed.learn(9_000, 9_000)
    assert speed.factor == pytest.approx(1.8)


def test_a_change_is_followed_and_one_stray_hardly():
    assert learned(*[1.0] * 50, 10.0) < 1.3
    assert learned(*[1.0] * 50, *[4.0] * 20) > 3.0


@given(st.lists(st.floats(1e-6, 1e6), min_size=1))
def test_it_stays_within_bounds(ratios):
    assert learned(*ratios) * (1 + 1e-9) >= 1 / 64
    assert learned(*ratios) <= 64 * (1 + 1e-9)


def test_others_are_presumed_alike_until_the_first_outcome():
    speed = Speed()
    assert speed.presume(1 / 40)
    assert speed.factor == 1 / 40
    assert not speed.presume(1 / 41)
    assert not speed.known
    speed.learn(2_000, 1_000)
    assert speed.known
    assert speed.factor == pytest.approx(2.0)
    assert not speed.presume(1 / 40)
