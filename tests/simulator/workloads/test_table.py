"""Distributions as tables."""

import random
import statistics

import pytest

from forebay.simulator.workloads.table import Table, shares

TABLE = Table((1, 5, 100), (500_000, 900_000, 1_000_000))


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 1), (0.49, 1), (0.5, 1), (0.51, 5), (0.95, 100), (1.0, 100)]
)
def test_the_value_at_a_share(share, value):
    assert TABLE.at(share) == value


def test_its_mean_is_that_of_its_draws():
    rng = random.Random(1)
    assert TABLE.mean == 0.5 * 1 + 0.4 * 5 + 0.1 * 100
    assert statistics.fmean(TABLE.at(rng.random()) for _ in range(40_000)) == pytest.approx(
        TABLE.mean, rel=0.04
    )


def test_fields_rise_together_or_each_alone():
    assert shares(2, [0.1, 0.9], comonotone=True) == [0.1, 0.1]
    assert shares(2, [0.1, 0.9], comonotone=False) == [0.1, 0.9]
