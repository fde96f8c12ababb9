"""Visits: the same for the same seed, at the rate and with the burstiness that was asked for."""

import itertools
import statistics

import msgspec
import pytest

from forebay.config.document import Document
from forebay.simulator.scenario import load_scenario, read_scenario
from forebay.simulator.workloads.draw import visits_of


def scenario(workload, arrivals="{rate_per_second: 20}", requests=4000):
    text = f"title: t\nfleet: [{{device: a100-sxm}}]\nworkload: {workload}\narrivals: {arrivals}\nrequests: {requests}\n"
    return read_scenario(Document(text, "test.yaml"), "test")


def gaps(visits):
    return [later.at - earlier.at for earlier, later in itertools.pairwise(visits)]


def test_the_same_seed_gives_the_same_visits():
    mix = "[servegen, {name: azure-text, weight: 0.5}, live-commerce, mooncake, short-answers, azure-multimodal]"
    once, again, other = (visits_of(scenario(mix, requests=400), seed) for seed in (1, 1, 2))
    assert msgspec.json.encode(once) == msgspec.json.encode(again)
    assert msgspec.json.encode(once) != msgspec.json.encode(other)


@pytest.mark.parametrize("cv", [0.5, 1.0, 2.0])
def test_gaps_have_the_rate_and_the_variation(cv):
    between = gaps(visits_of(scenario("short-answers", f"{{rate_per_second: 20, cv: {cv}}}"), 1))
    assert statistics.fmean(between) == pytest.approx(0.05, rel=0.1)
    assert statistics.pstdev(between) / statistics.fmean(between) == pytest.approx(cv, rel=0.1)


def test_another_rate_asks_for_the_same_things():
    slow, fast = (visits_of(scenario("servegen", f"{{rate_per_second: {rate}}}", 200), 3) for rate in (5, 50))
    assert [one.request for one in slow] == [one.request for one in fast]
    assert slow[-1].at == pytest.approx(10 * fast[-1].at)


def test_parts_have_their_weights():
    visits = visits_of(scenario("[{name: servegen, weight: 3}, azure-text]"), 1)
    assert sum(1 for one in visits if one.patches) / len(visits) == pytest.approx(0.75, abs=0.05)


def test_recorded_times_are_stretched_to_the_rate():
    mix = "[{name: azure-text, order: recorded}, {name: mooncake, weight: 0.25}]"
    visits = visits_of(scenario(mix, "{rate_per_second: 20, as_recorded: true}", 2000), 1)
    moments = [one.at for one in visits]
    assert moments == sorted(moments)
    assert len(visits) == 2000
    assert moments[-1] == pytest.approx(100, rel=0.01)
    assert [one.request.request_id for one in visits[:3]] == ["v0", "v1", "v2"]


def test_the_clients_of_a_closed_loop_come_when_they_are_served():
    assert {one.at for one in visits_of(load_scenario("b"), 1)} == {0.0}
