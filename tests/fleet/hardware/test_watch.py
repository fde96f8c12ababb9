import threading

import pytest

from forebay.config.settings import HardwareSettings
from forebay.domain.hardware import Device
from forebay.fleet.hardware import catalogue, probe
from forebay.fleet.hardware import watch as watch_module
from forebay.fleet.hardware.probe import CommandProbe, Unavailable
from forebay.fleet.hardware.watch import HardwareWatch

TABLE = "index, name, utilization.gpu [%]\n0, NVIDIA L4, 5 %\n"
ROCM = '{"card0": {"GPU use (%)": "37"}}\n'


def watching(warnings, name="auto", clock=lambda: 7):
    return HardwareWatch(HardwareSettings(probe=name, interval_seconds=0.001), clock, warnings.append)


def test_auto_takes_the_first_tool_that_tells_of_a_device(tool, monkeypatch):
    monkeypatch.setitem(catalogue.BY_NAME, "nvml", lambda: CommandProbe(("no-nvml",), lambda _text: ()))
    tool("nvidia-smi", "No devices were found\n")
    tool("rocm-smi", ROCM)
    warnings = []
    watch = watching(warnings)
    watch.look()
    assert (watch.latest.probe, watch.latest.at) == ("rocm-smi", 7)
    assert watch.latest.devices == (Device(0, utilisation=0.37),)
    assert warnings == []


def test_a_host_without_devices_is_told_once_with_every_reason(tool, monkeypatch):
    monkeypatch.setitem(catalogue.BY_NAME, "nvml", lambda: CommandProbe(("no-nvml",), lambda _text: ()))
    tool("amd-smi", "", 1)
    tool("npu-smi", "dcmi module initialize failed.\n", 255, to="stderr")
    warnings = []
    watch = watching(warnings)
    watch.look()
    watch.look()
    (warning,) = warnings
    for reason in (
        "nvidia-smi is not installed",
        "amd-smi ended with status 1",
        "dcmi module initialize failed",
    ):
        assert reason in warning


def test_a_tool_that_comes_back_is_read_and_its_next_loss_is_told(tool):
    warnings = []
    watch = watching(warnings, "nvidia-smi")
    watch.look()
    tool("nvidia-smi", TABLE)
    watch.look()
    assert watch.latest.devices == (Device(0, "NVIDIA L4", 0.05),)
    tool("nvidia-smi", "GPU has fallen off the bus\n", 15)
    watch.look()
    assert watch.latest is None
    assert [("not installed" in warnings[0]), ("fallen off" in warnings[1])] == [True, True]


def test_a_tool_that_hangs_tells_nothing(tool, monkeypatch, tmp_path):
    monkeypatch.setattr(probe, "COMMAND_SECONDS", 0.05)
    (tmp_path / "slow").write_text("#!/bin/sh\nwhile :; do :; done\n")
    (tmp_path / "slow").chmod(0o755)
    with pytest.raises(Unavailable, match="timed out"):
        CommandProbe(("slow",), lambda _text: ()).read()


@pytest.mark.parametrize("where", ["", " >&2"])
def test_a_tool_that_writes_without_end_tells_nothing(tool, monkeypatch, tmp_path, where):
    monkeypatch.setattr(probe, "COMMAND_SECONDS", 0.5 if where else 30.0)
    (tmp_path / "chatty").write_text(f"#!/bin/sh\nwhile :; do echo {'x' * 4096}{where}; done\n")
    (tmp_path / "chatty").chmod(0o755)
    with pytest.raises(Unavailable, match="timed out" if where else "more than 1048576 bytes"):
        CommandProbe(("chatty",), lambda _text: ()).read()


def test_a_fault_of_a_parser_ends_no_thread(tool, monkeypatch):
    def broken(_text):
        raise KeyError("gpu")

    tool("nvidia-smi", TABLE)
    monkeypatch.setitem(catalogue.BY_NAME, "nvidia-smi", lambda: CommandProbe(("nvidia-smi",), broken))
    warnings = []
    watch = watching(warnings, "nvidia-smi")
    watch.look()
    assert watch.latest is None
    assert "KeyError" in warnings[0]


def test_the_thread_reads_again_and_again_and_ends(tool):
    tool("nvidia-smi", TABLE)
    third = threading.Event()
    ticks = []

    def clock():
        ticks.append(len(ticks))
        if len(ticks) >= 3:
            third.set()
        return ticks[-1]

    watch = watching([], "nvidia-smi", clock)
    watch.start()
    assert third.wait(30)
    watch.stop()
    watch.stop()
    assert watch.latest.at == ticks[-1]
    assert "hardware" not in {thread.name for thread in threading.enumerate()}


def test_a_driver_that_hangs_holds_up_nobody(monkeypatch):
    began, go = threading.Event(), threading.Event()

    class Hanging:
        def read(self):
            began.set()
            go.wait()
            return ()

        def close(self):
            pass

    monkeypatch.setattr(watch_module, "STOP_SECONDS", 0.01)
    monkeypatch.setitem(catalogue.BY_NAME, "nvml", Hanging)
    watch = watching([], "nvml")
    watch.start()
    assert began.wait(30)
    watch.stop()
    assert watch._thread.is_alive()
    go.set()
    watch._thread.join(30)
    assert not watch._thread.is_alive()


def test_off_starts_no_thread():
    watch = HardwareWatch(HardwareSettings(), lambda: 0, lambda _sentence: None)
    watch.start()
    assert "hardware" not in {thread.name for thread in threading.enumerate()}
    watch.stop()
    assert watch.latest is None
