"""Medians, paired ratios and paired differences."""

import pytest

from forebay.testing.bench.figures import Figures, percentile, spread

from .reports import report, sample


def test_percentile_is_nearest_rank():
    values = [5, 1, 4, 2, 3]
    assert [percentile(values, share) for share in (0.01, 0.5, 0.99, 1.0)] == [1, 3, 5, 5]


def test_spread_of_nothing_is_none():
    assert spread([]) is None
    assert spread([3, 1, 2]) == (2, 1, 3)


def test_ratio_is_taken_within_each_round():
    figures = Figures(report())
    assert figures.cpu_us("forebay", "text-1kb") == pytest.approx((100, 60, 160))
    assert figures.ratio("forebay", "vllm-router", "text-1kb") == pytest.approx((0.5, 0.4, 0.6))
    assert figures.ratio("forebay", "absent", "text-1kb") is None


def test_added_latency_is_over_direct_in_the_same_round():
    figures = Figures(report())
    assert figures.added_us("forebay", "latency", 0.5) == (250, 250, 250)
    assert figures.added_us("forebay", "latency", 0.99) == (2200, 2200, 2200)
    assert figures.latency_us("direct", "latency", 0.99) == (301, 300, 302)
    assert figures.added_us("forebay", "text-1kb", 0.5) is None


def test_faults_and_rewrites_are_gathered():
    made = report()
    made.samples.append(sample("nginx", "image", 0, 1, wrong=2, first_wrong="cut", request_rewritten=1))
    figures = Figures(made)
    assert figures.faults("nginx") == (2, "cut")
    assert figures.faults("forebay") == (0, "")
    assert figures.rewrites("nginx") == (True, False)
