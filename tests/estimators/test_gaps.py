"""The percentile of gaps."""

import math
import random

import pytest

from forebay.estimators.gaps import Gaps


def p95_of(gaps):
    histogram = Gaps()
    for gap in gaps:
        histogram.add(gap)
    return histogram.p95_us()


def test_nothing_seen_is_unknown():
    assert math.isnan(p95_of([]))
    assert math.isnan(p95_of([0, -1]))


@pytest.mark.parametrize("gap", [1_500, 20_000, 3_000_000])
def test_one_gap_is_found_within_a_bucket(gap):
    assert p95_of([gap]) == pytest.approx(gap, rel=0.1)


def test_out_of_range_gaps_go_to_the_end_buckets():
    assert p95_of([1]) == pytest.approx(1000 * 2**0.125)
    assert p95_of([10**9]) == pytest.approx(1000 * 2**15.875)


def test_the_percentile_is_about_the_95th():
    rng = random.Random(1)
    assert p95_of([rng.uniform(1e3, 1e5) for _ in range(2000)]) == pytest.approx(9.5e4, rel=0.25)


def test_old_gaps_are_forgotten():
    assert p95_of([500_000] * 200 + [10_000] * 600) == pytest.approx(10_000, rel=0.1)


def test_weights_stay_bounded():
    assert p95_of([10_000] * 10_000) == pytest.approx(10_000, rel=0.1)
