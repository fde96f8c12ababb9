"""One run: pure in scenario, profile and seed, here and in other processes."""

import pickle

import msgspec
import numpy as np
import pytest

from forebay.config.errors import ConfigError
from forebay.placement.baselines import LeastRequestSettings, least_request
from forebay.simulator.many import Job, run_many
from forebay.simulator.run import name_of, run
from forebay.simulator.scenario import Group, Incident, load_scenario

SMALL = msgspec.structs.replace(load_scenario("smoke"), requests=60)


def figures(result):
    return msgspec.json.encode(result.figures)


def sees_the_future(visits):
    assert len(visits) == 60
    assert all(visit.output_tokens >= 1 for visit in visits)
    return least_request(LeastRequestSettings())


def test_the_same_seed_gives_the_same_figures_and_another_gives_others():
    once, again, other = (run(SMALL, "power-of-two", seed) for seed in (1, 1, 2))
    assert figures(once) == figures(again) != figures(other)


def test_results_can_be_sent_between_processes():
    result = run(SMALL, "least-request", 1)
    back = pickle.loads(pickle.dumps(result))
    assert figures(back) == figures(result)
    assert np.array_equal(back.series.e2e, result.series.e2e)


@pytest.mark.parametrize("workers", [1, 2])
def test_many_runs_are_what_each_is_alone(workers):
    jobs = [Job(SMALL, profile, 3) for profile in ("round-robin", "least-request")]
    found = dict(run_many(jobs, workers))
    assert [figures(found[place]) for place in (0, 1)] == [figures(run(*job)) for job in jobs]


def test_profiles_are_named_with_what_is_not_their_default():
    assert name_of("queue-kv") == name_of({"name": "queue-kv"}) == "queue-kv"
    assert name_of({"name": "queue-kv", "kv": 1.0}) == "queue-kv:kv=1.0"
    assert name_of(sees_the_future) == "sees-the-future"


def test_an_oracle_may_see_what_will_come():
    oracle = run(SMALL, sees_the_future, 1)
    assert oracle.profile == "sees-the-future"
    assert figures(oracle) == figures(run(SMALL, "least-request", 1))


def test_an_unknown_profile_is_told():
    with pytest.raises(ConfigError, match="did you mean `round-robin`"):
        run(SMALL, "rund-robin", 1)


def test_an_endpoint_may_be_slower_than_the_gateway_was_told():
    slow = msgspec.structs.replace(SMALL, fleet=(Group("a100-sxm", 2, slower=3.0),))
    ratio = run(slow, "round-robin", 1).figures.tpot.p50 / run(SMALL, "round-robin", 1).figures.tpot.p50
    assert ratio > 2.5


def test_incidents_come_at_their_moments():
    fleet = (Group("a100-sxm", 3),)
    incidents = (
        Incident(1.5, 0, "lose"),
        Incident(3.0, 2, "join"),
        Incident(0.5, 1, "slow-down", factor=1.5),
    )
    result = run(msgspec.structs.replace(SMALL, fleet=fleet, incidents=incidents), "least-request", 1)
    series = result.series
    assert set(series.slot[series.arrived > 2.5]) == {1, 2}
    assert set(series.slot[series.arrived < 1.0]) == {0, 1}
    there = ~np.isnan(series.occupancy)
    assert there[0].tolist() == [True, True, False]
    assert there[-1].tolist() == [False, True, True]


def test_several_gateways_serve_one_fleet():
    several = msgspec.structs.replace(SMALL, gateways=3)
    assert run(several, "least-request", 1).figures.counted == 51
