"""The predictive profile at work on modelled fleets. Seeds are fixed, so that the figures are the same everywhere."""

import pytest

from forebay.config.document import Document
from forebay.simulator.run import run
from forebay.simulator.scenario import read_scenario

MIXED = """
title: Unlike devices, half with pictures
fleet: [{device: h100-sxm, count: 1}, {device: a100-sxm, count: 1}, {device: l40s, count: 2}]
workload:
  - {name: servegen, draw: independent}
  - {name: azure-text, trace: conversation}
arrivals: {rate_per_second: 13}
duration_seconds: 40
caches: {encoder_items: 0}
"""
MISJUDGED = """
title: One is three times slower than it says
fleet: [{device: a100-sxm, count: 1, slower: 3.0}, {device: a100-sxm, count: 3}]
workload: azure-text
arrivals: {rate_per_second: 12}
duration_seconds: 40
caches: {encoder_items: 0}
"""


def scenario(text):
    return read_scenario(Document(text, "mine.yaml"), "mine")


def figures(text, profile):
    return run(scenario(text), profile, seed=21).figures


def test_where_devices_differ_it_is_ahead_of_counting_requests():
    ours, theirs = figures(MIXED, "predictive"), figures(MIXED, "least-request")
    assert ours.e2e.mean < 0.95 * theirs.e2e.mean
    assert ours.ttft.mean < 0.85 * theirs.ttft.mean


@pytest.mark.parametrize("profile", ["predictive", {"name": "predictive", "patience": 0.5}])
def test_who_is_slower_than_declared_is_found_out(profile):
    result = run(scenario(MISJUDGED), profile, seed=21)
    late = result.series.slot[result.series.arrived > 15]
    share = (late == 0).mean()
    # Its part of all speed is a tenth; a request there would be late, so that it gets less.
    assert 0 < share < 0.07
