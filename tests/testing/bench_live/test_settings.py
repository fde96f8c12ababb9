"""What a live bench takes, and how both sides' time is stretched."""

import pytest

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.simulator.scenario import load_scenario
from forebay.testing.bench_live.fleet import configuration
from forebay.testing.bench_live.settings import check, for_seconds


def test_everything_that_is_modelled_takes_as_many_times_as_long(tiny):
    settings = tiny(slowdown=3.0)
    assert [group.slower for group in settings.stretched.fleet] == [3.0]
    assert settings.stretched.signals_seconds == 1.5
    assert settings.overheads.first_token == pytest.approx(3 * 15.6e-3)


def test_seconds_are_those_of_arrivals():
    scenario = load_scenario("live")
    assert for_seconds(scenario, None) == scenario
    assert for_seconds(scenario, 10).requests == 10 * scenario.arrivals.rate_per_second
    with pytest.raises(ConfigError, match="closed loop"):
        for_seconds(load_scenario("b"), 10)


@pytest.mark.parametrize(("name", "why"), [("j", "several gateways"), ("h", "incidents")])
def test_what_cannot_be_done_live_is_refused(name, why):
    with pytest.raises(ConfigError, match=why):
        check(load_scenario(name))


def test_the_gateway_is_given_what_the_simulator_has(tiny):
    scenario = tiny().stretched
    data = configuration(scenario, {"name": "multimodal", "visual": 0.5}, 18_000, 18_001, [18_002, 18_003], 7)
    plan = assemble(Document.of(data, "test"))
    assert [endpoint.device for endpoint in plan.plan.pools[0].endpoints] == list(scenario.devices)
    assert plan.file.seed == 7
