"""Scenarios: those that come along are right, and a wrong one is told with its place and cure."""

from importlib.resources import files

import pytest

from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.simulator.run import world_of
from forebay.simulator.scenario import load_scenario, read_scenario, shipped

GOOD = {
    "title": "title: t",
    "fleet": "fleet: [{device: a100-sxm, count: 2}, {device: l40s}]",
    "workload": "workload: servegen",
    "arrivals": "arrivals: {rate_per_second: 4}",
    "requests": "requests: 10",
}


def read(**changes):
    text = "\n".join(line for line in {**GOOD, **changes}.values() if line)
    return read_scenario(Document(text, "mine.yaml"), "mine")


def test_the_cases_are_there():
    assert set(shipped()) >= {*"abcdefghij", "c2", "smoke"}


@pytest.mark.parametrize("name", shipped())
def test_what_comes_along_is_right(name):
    scenario = load_scenario(name)
    assert scenario.name == name
    assert scenario.title
    assert len(scenario.devices) >= 2
    assert scenario.requests >= 300
    assert (scenario.arrivals is None) == (scenario.clients == 128)


def test_names_are_found_in_any_case_and_files_by_their_path(tmp_path):
    assert load_scenario("C2") == load_scenario("c2")
    file = tmp_path / "mine.yaml"
    file.write_text("\n".join(GOOD.values()))
    assert load_scenario(str(file)) == read()


def test_ones_own_devices_stand_beside_the_file(tmp_path):
    shipped_one = files("forebay").joinpath("simulator/devices/l40s.json").read_text()
    (tmp_path / "h100-mine.json").write_text(shipped_one)
    file = tmp_path / "mine.yaml"
    file.write_text("\n".join({**GOOD, "fleet": "fleet: [{device: h100-mine.json}]"}.values()))
    scenario = load_scenario(str(file))
    assert scenario.devices == (str(tmp_path / "h100-mine.json"),)
    (replica,) = world_of(scenario, "round-robin", 1, []).replicas.values()
    assert replica.endpoint.device == "h100-mine"
    assert replica.engine.steps.device.title.startswith("NVIDIA L40S")


def test_a_fleet_is_a_list_of_devices():
    assert read().devices == ("a100-sxm", "a100-sxm", "l40s")


def test_requests_follow_from_a_duration():
    assert read(requests="duration_seconds: 60").requests == 240


def test_another_rate_lasts_as_long():
    faster = read().at_rate(8)
    assert (faster.arrivals.rate_per_second, faster.requests) == (8, 20)


def test_a_workload_has_its_parameters_and_weight():
    mix = read(workload="workload: [{name: servegen, weight: 3, reuse: {share: 0.5}}, mooncake]").parts
    assert [(part.name, part.weight) for part in mix] == [("servegen", 3.0), ("mooncake", 1.0)]
    assert mix[0].workload.reuse.share == 0.5


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"fleet": "fleet: []"}, "mine.yaml:2:1: fleet: no endpoints: write"),
        ({"fleet": "fleet: [{device: a1000}]"}, "fleet[0].device: no device 'a1000'; there are a100-sxm,"),
        ({"fleet": "fleet: [{device: l40s, count: 0}]"}, "fleet[0].count: expected `int` >= 1"),
        ({"workload": "workload: servgen"}, "mine.yaml:3:1: workload: `servgen` is not known: did you mean `servegen`?"),
        ({"workload": "workload: {name: servegen, hours: 3}"}, "workload.hours: unknown field `hours`: did you mean `hour`?"),
        ({"workload": "workload: {name: servegen, hour: 30}"}, "workload.hour: expected `int` <= 23"),
        ({"workload": "workload: [{name: servegen, weight: 0}]"}, "workload[0].weight: expected `float` > 0"),
        ({"arrivals": ""}, "give either `arrivals` or `clients`"),
        ({"arrivals": "arrivals: {rate_per_second: 4}\nclients: 3"}, "give either `arrivals` or `clients`"),
        ({"requests": ""}, "give either `requests` or `duration_seconds`"),
        ({"requests": "requests: 3\nduration_seconds: 2"}, "give either `requests` or `duration_seconds`"),
        ({"arrivals": "clients: 3", "requests": "duration_seconds: 9"}, "give `requests`: with `clients` nobody knows"),
        ({"title": "title: t\nmodel: Qwen3-VL-9B"}, "model: `Qwen3-VL-9B` is not known: did you mean `Qwen3-VL-8B`?"),
        ({"title": "title: t\ngateway: 3"}, "unknown field `gateway`: did you mean `gateways`?"),
        (
            {"title": "title: t\nincidents: [{at_seconds: 1, endpoint: 3, what: lose}]"},
            "incidents[0].endpoint: there is no endpoint 3: they are 0 to 2",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place_and_cure(changes, told):
    with pytest.raises(ConfigError) as error:
        read(**changes)
    assert told in str(error.value)


def test_an_unknown_scenario_is_told_which_there_are():
    with pytest.raises(ConfigError, match="there are a, b, c, c2"):
        load_scenario("nothing-like-it")
