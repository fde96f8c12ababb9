"""Case P33: cells that are no numbers, sentences that change with versions, banners before JSON, and a tool that fails."""

from pathlib import Path

import pytest

from forebay.config.settings import HardwareSettings
from forebay.domain.hardware import Device
from forebay.fleet.hardware import nvidia_smi, rocm_smi
from forebay.fleet.hardware.probe import Unavailable
from forebay.fleet.hardware.watch import HardwareWatch

CASES = Path(__file__).parents[2] / "cases"
MIB = 1024 * 1024


def case(name):
    return (CASES / name).read_text()


def share_of_memory(device):
    return device.memory_used_bytes / device.memory_total_bytes


def test_p33_unified_memory_is_unknown_and_the_rest_is_read():
    assert nvidia_smi.parse(case("p33_nvsmi_gb10.csv")) == (
        Device(0, "NVIDIA GB10", utilisation=0.37, power_watts=11.17, temperature_celsius=45.0),
    )


def test_p33_mig_tells_memory_without_utilisation():
    split, whole = nvidia_smi.parse(case("p33_nvsmi_mig.csv"))
    assert (split.utilisation, split.power_watts) == (None, None)
    assert split.memory_total_bytes == 40960 * MIB
    assert share_of_memory(split) == 0.25
    assert (whole.utilisation, whole.power_watts) == (0.98, 301.2)
    assert share_of_memory(whole) == pytest.approx(0.928, abs=0.0005)


@pytest.mark.parametrize(
    ("name", "utilisation"), [("p33_rocm_old.json", 0.37), ("p33_rocm_warn_first.txt", None)]
)
def test_p33_memory_is_worked_out_from_bytes_whatever_the_version_calls_memory_use(name, utilisation):
    (card,) = rocm_smi.parse(case(name))
    assert card.utilisation == utilisation
    assert share_of_memory(card) == pytest.approx(0.25, abs=0.0001)


def test_p33_a_warning_without_data_is_no_data():
    assert rocm_smi.parse(case("p33_rocm_empty.txt")) == ()


def test_p33_a_tool_that_fails_makes_the_probe_unavailable(tool):
    tool("nvidia-smi", case("p33_nvsmi_mismatch.txt"), status=18)
    with pytest.raises(
        Unavailable, match="status 18: Failed to initialize NVML: Driver/library version mismatch"
    ):
        nvidia_smi.probe().read()


def test_p33_it_is_told_once_and_nothing_is_known(tool):
    tool("nvidia-smi", case("p33_nvsmi_mismatch.txt"), status=18)
    warnings = []
    watch = HardwareWatch(HardwareSettings(probe="nvidia-smi"), lambda: 0, warnings.append)
    for _ in range(3):
        watch.look()
    assert watch.latest is None
    assert len(warnings) == 1
    assert "version mismatch" in warnings[0]
