"""Devices and the step model."""

import json
from importlib.resources import files

import msgspec
import pytest

from forebay.simulator.engine.device import UnknownDevice, load_device
from forebay.simulator.engine.shape import LLAMA_31_8B, QWEN3_VL_8B
from forebay.simulator.engine.steps import StepModel

SHIPPED = sorted(
    one.name.removesuffix(".json") for one in files("forebay").joinpath("simulator/devices").iterdir()
)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_device_says_how_far_it_can_be_trusted(name):
    device = load_device(name)
    assert device.standing in {"validated", "kernel-fitted, not validated", "datasheet only"}
    assert device.encoder_standing != "validated"
    assert StepModel(device, QWEN3_VL_8B).kv_capacity_tokens > 100_000


def test_only_what_was_measured_end_to_end_is_called_validated():
    assert [name for name in SHIPPED if load_device(name).standing == "validated"] == ["h100-sxm"]


def test_an_unknown_device_names_those_that_there_are():
    with pytest.raises(UnknownDevice, match=r"no device 'a1oo'; there are a100-sxm, .*\.json"):
        load_device("a1oo")


def test_a_user_can_bring_a_device(tmp_path):
    mine = json.loads(files("forebay").joinpath("simulator/devices/l40s.json").read_text())
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**mine, "title": "Mine", "memory_gib": 24}))
    assert load_device(str(path)).title == "Mine"
    path.write_text(json.dumps({**mine, "memmory_gib": 24}))
    with pytest.raises(msgspec.ValidationError, match="memmory_gib"):
        load_device(str(path))


def test_the_capacity_is_what_memory_leaves():
    # (0.9 * 80 GiB - 15.136 GB - 4.2 GB) / 147,456 B
    assert StepModel(load_device("a100-sxm"), QWEN3_VL_8B).kv_capacity_tokens == 393_156


def test_a_model_without_an_encoder_encodes_in_no_time():
    assert StepModel(load_device("h100-sxm"), LLAMA_31_8B).encode([1000]) == 0.0


def test_costs_grow_with_every_part_and_a_slow_device_stretches_all():
    steps = StepModel(load_device("l40s"), QWEN3_VL_8B)
    one = steps.step(100, 10_000, 4, 5_000)
    for more in [
        (200, 10_000, 4, 5_000),
        (100, 1e8, 4, 5_000),
        (100, 10_000, 40, 5_000),
        (100, 10_000, 4, 50_000),
    ]:
        assert steps.step(*more) > one
    slow = StepModel(load_device("l40s"), QWEN3_VL_8B, slowdown=3.0)
    assert slow.step(100, 10_000, 4, 5_000) == pytest.approx(3 * one)
    assert slow.encode([400, 400]) == pytest.approx(3 * steps.encode([400, 400]))
    assert steps.encode([]) == 0.0
    assert steps.prefill(1000, [400]) == steps.encode([400]) + steps.step(1000, 1e6, 0, 0)


def test_an_encoder_pays_more_than_twice_for_twice_the_patches():
    steps = StepModel(load_device("a100-sxm"), QWEN3_VL_8B)
    call = steps.encode([1]) * 0.999
    assert steps.encode([8000]) - call > 2 * (steps.encode([4000]) - call)
