"""How the requests of a pool fare on the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.pace import AT_FIRST
from forebay.estimators.pace import LEAST_COUNT, Mean, PaceMeter


def fed(first_us=300_000, tokens=1_000, answer_us=2_000_000, times=LEAST_COUNT):
    meter = PaceMeter()
    for _ in range(times):
        meter.first_token(first_us, tokens)
        meter.answered(answer_us)
    return meter


def test_too_few_tell_nothing():
    assert fed(times=LEAST_COUNT - 1).pace == AT_FIRST


def test_enough_tell_all():
    pace = fed().pace
    assert pace.first_token_seconds == pytest.approx(0.3)
    assert pace.answer_seconds == pytest.approx(2.0)
    assert (pace.prompt_tokens, pace.prompt_tokens_rms) == pytest.approx((1_000, 1_000))


def test_the_root_mean_square_leans_to_the_large():
    meter = PaceMeter()
    for number in range(80):
        meter.first_token(1_000, 100 + 1_900 * (number % 2))
    assert meter.pace.prompt_tokens == pytest.approx(1_050, rel=0.01)
    assert meter.pace.prompt_tokens_rms == pytest.approx(1_416, rel=0.01)


def test_what_took_no_time_or_had_no_prompt_is_left_out():
    meter = fed()
    before = meter.pace
    meter.first_token(0, 100)
    meter.first_token(100, 0)
    meter.answered(0)
    assert meter.pace is before


def test_one_stray_hour_moves_the_mean_by_little():
    meter = fed(times=200)
    meter.answered(3_600_000_000)
    assert meter.pace.answer_seconds < 2.2


def test_a_change_is_followed_within_a_few_windows():
    meter = fed(times=300)
    for _ in range(800):
        meter.answered(6_000_000)
    assert meter.pace.answer_seconds == pytest.approx(6.0, rel=0.05)


def test_the_mean_cache_is_that_of_who_tells():
    meter = PaceMeter()
    meter.capacity(0, None)
    assert meter.pace is AT_FIRST
    meter.capacity(0, 100_000)
    meter.capacity(1, 300_000)
    assert meter.pace.kv_capacity_tokens == 200_000
    before = meter.pace
    meter.capacity(1, 300_000)
    assert meter.pace is before
    meter.forget(1)
    meter.forget(1)
    assert meter.pace.kv_capacity_tokens == 100_000
    meter.forget(0)
    assert meter.pace == AT_FIRST


@given(st.lists(st.floats(0.001, 1000), min_size=LEAST_COUNT, max_size=60))
def test_a_mean_lies_among_its_values(values):
    mean = Mean(200)
    for value in values:
        mean.add(value)
    assert min(values) * 0.999 <= mean.over(0.0) <= max(values) * 1.001
