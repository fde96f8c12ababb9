"""Small worlds of a few modelled A100s."""

import pytest

from forebay.conductor.conductor import Conductor
from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.shape import QWEN3_VL_8B
from forebay.simulator.engine.steps import StepModel
from forebay.simulator.replica import Replica
from forebay.simulator.world import World, WorldSettings
from forebay.testing import build


@pytest.fixture
def world():
    """Build a world: `world(visits, replicas=2, gateways=1, profile="least-request", **world settings)`."""

    def make(
        load,
        replicas=2,
        gateways=1,
        profile="least-request",
        seed=0,
        clients=0,
        pool=None,
        most=0,
        **settings,
    ):
        endpoints = tuple(
            build.endpoint(slot, device="a100-sxm", max_in_flight=most) for slot in range(replicas)
        )
        plan = build.plan(
            build.pool(endpoints, profile=build.profile(profile), slow_start_seconds=0, **(pool or {}))
        )
        steps = StepModel(load_device("a100-sxm"), QWEN3_VL_8B)
        fleet = [Replica(one, Engine(steps, EngineSettings()), ["m"]) for one in endpoints]
        minds = [Conductor(plan, seed=seed, worker=number, workers=gateways) for number in range(gateways)]
        return World(fleet, minds, load, WorldSettings(**settings), clients=clients)

    return make
