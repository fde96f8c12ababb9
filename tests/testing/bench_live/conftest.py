"""A scenario that is over in seconds."""

import msgspec
import pytest

from forebay.simulator.scenario import load_scenario
from forebay.testing.bench_live.settings import LiveSettings, for_seconds


@pytest.fixture
def tiny():
    """Build settings: `tiny(seconds=1, profiles=("least-request",), slowdown=0.1, **of the scenario)`."""

    def make(seconds=1.0, profiles=("least-request",), slowdown=0.1, **changes):
        scenario = msgspec.structs.replace(for_seconds(load_scenario("smoke"), seconds), **changes)
        return LiveSettings(scenario, profiles, slowdown=slowdown)

    return make
