"""Figures of a run: over the requests between warm-up and run-out, by the definitions that they are given with."""

import math

import numpy as np
import pytest

from forebay.simulator.results import balance, imbalance, in_flight, result_of, spread, standing_of
from forebay.simulator.scenario import load_scenario
from forebay.simulator.visits import Story

from .loads import visits


def test_percentiles_are_interpolated_and_jitter_is_their_distance():
    found = spread([0.1 * each for each in range(1, 102)])
    assert (found.mean, found.p50, found.p90, found.p99) == pytest.approx((5.1, 5.1, 9.1, 10.0))
    assert found.jitter == pytest.approx(4.9)
    assert spread([]).mean == spread([]).jitter == 0.0


def test_occupancy_is_compared_over_endpoints_and_then_averaged_over_time():
    mean, std, cv = balance(np.array([[0.2, 0.4], [0.0, 0.0], [0.5, 0.1]]))
    assert mean == pytest.approx(0.2)
    assert std == pytest.approx((0.1 + 0 + 0.2) / 3)
    assert cv == pytest.approx((1 / 3 + 2 / 3) / 2)


def test_endpoints_that_are_not_there_are_not_compared():
    _, std, _ = balance(np.array([[0.2, 0.4, math.nan], [math.nan] * 3]))
    assert std == pytest.approx(0.1)
    assert balance(np.zeros((0, 2))) == (0.0, 0.0, 0.0)


def test_imbalance_is_of_busy_seconds_only():
    assert imbalance(np.array([[3.0, 9.0], [1.0, 2.0]])) == pytest.approx([1.5])


def test_requests_in_flight_are_averaged_exactly_over_each_second():
    stories = [
        Story(0, 0.0, slot=0, sent=0.25, ended=2.5, tries=1),
        Story(1, 0.0, slot=0, sent=1.0, ended=1.5, tries=1),
        Story(2, 0.0, slot=1, sent=2.0, tries=1),
        Story(3, 0.0, refused="rejected-saturated", ended=0.1),
    ]
    assert in_flight(stories, 2, 3.2).tolist() == [[0.75, 0.0], [1.5, 0.0], [0.5, 1.0]]


def test_the_first_tenth_and_the_last_twentieth_are_not_counted(world):
    asked = visits(200)
    made = world(asked, replicas=2)
    stories = made.run()
    result = result_of(load_scenario("a"), "least-request", 4, asked, stories, made)
    kept = sorted(stories, key=lambda story: story.arrived)[20:190]
    figures = result.figures
    assert (figures.requests, figures.counted, figures.refused) == (200, 170, 0)
    assert figures.e2e.mean == pytest.approx(np.mean([story.e2e for story in kept]))
    assert figures.ttft.p99 == pytest.approx(np.percentile([story.ttft for story in kept], 99))
    begin, end = kept[0].arrived, kept[-1].arrived
    ended = [story for story in stories if begin <= story.ended < end]
    assert figures.throughput_per_second == pytest.approx(len(ended) / (end - begin))
    tokens = sum(asked[story.number].output_tokens for story in ended)
    assert figures.output_tokens_per_second == pytest.approx(tokens / (end - begin))
    assert 0 < figures.tpot.mean < 0.1
    assert len(result.series.e2e) == 200
    assert result.series.occupancy.shape[1] == 2


def test_a_run_in_which_nobody_was_served_has_figures_too(world):
    made = world([], replicas=2)
    figures = result_of(load_scenario("a"), "x", 1, [], made.run(), made).figures
    assert (figures.counted, figures.throughput_per_second, figures.e2e.mean) == (0, 0.0, 0.0)


def test_each_device_says_how_far_it_can_be_trusted():
    standing = standing_of(load_scenario("c"))
    assert list(standing) == ["h100-sxm", "a100-sxm", "l40s"]
    assert standing["l40s"].startswith("kernel-fitted, not validated; encoder: ")
