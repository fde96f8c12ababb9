import ctypes
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("fake_nvml.c")


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory):
    """The fake library, compiled and loaded under the name by which nvidia-ml-py asks the loader for the real one."""
    pytest.importorskip("pynvml", reason="NVML NOT TESTED: nvidia-ml-py is not installed")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("NVML NOT TESTED: no C compiler (cc) to build the fake library")
    path = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    command = (compiler, "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-o", str(path), str(SOURCE))
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(path))
    library.fake_device.argtypes = [ctypes.c_longlong] * 5 + [ctypes.c_int]
    return library


@pytest.fixture
def fake_nvml(nvml_library):
    """A function that says how the library begins: `init` and `counting` are statuses, `devices` rows of fake_device."""

    def begin(*devices, init=0, counting=0):
        nvml_library.fake_reset(init, counting)
        for device in devices:
            nvml_library.fake_device(*device)
        return nvml_library

    return begin


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """A function that puts a fake tool on an otherwise empty PATH: it writes `says` and ends with `status`."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(name, says="", status=0, *, to="stdout"):
        said = tmp_path / f"{name}.said"
        said.write_text(says)
        script = tmp_path / name
        redirect = " >&2" if to == "stderr" else ""
        # The shell's own words only: PATH is empty.
        script.write_text(
            f'#!/bin/sh\nwhile IFS= read -r line; do echo "$line"{redirect}; done <"{said}"\nexit {status}\n'
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    return install
