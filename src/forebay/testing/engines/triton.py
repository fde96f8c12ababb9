"""A real Triton Inference Server on the CPU, from the `nvidia-pytriton` wheel, in an environment of its own (370 MB).

`python -m forebay.testing.engines.triton install .venv-triton` makes that environment from `requirements/triton.txt`. The
model in it doubles numbers: the wheel holds no OpenAI frontend, so that this shows health, models, load and no chat.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from forebay.testing.engines.launch import EngineSpec, free_port

VERSION = "0.7.0"
ENVIRONMENT_VARIABLE = "FOREBAY_TRITON_VENV"
START_SECONDS = 120.0
"""Deadline for a start on two busy cores; a quiet machine takes 4 s."""

MODEL = "double"
PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3", sys.executable)

# Triton runs Python models with the libpython that the loader finds, and the interpreter's own standard library.
_FITS = """
import ctypes, subprocess, sys
known = subprocess.check_output(["/sbin/ldconfig", "-p"], text=True).splitlines()
name = "libpython%d.%d.so.1.0" % sys.version_info[:2]
library = ctypes.CDLL(next(line.split("=> ")[1] for line in known if line.split()[0] == name))
library.Py_GetVersion.restype = ctypes.c_char_p
sys.exit(not (3, 8) <= sys.version_info < (3, 14) or library.Py_GetVersion().decode() != sys.version)
"""


def environment_directory() -> Path:
    """The virtual environment that holds Triton: `$FOREBAY_TRITON_VENV`, or `.venv-triton` in the working directory."""
    return Path(os.environ.get(ENVIRONMENT_VARIABLE) or ".venv-triton").absolute()


def triton_available(environment: Path | None = None) -> str | None:
    """Why Triton cannot be started from this environment, or None when it can."""
    where = environment or environment_directory()
    if list(where.glob(f"lib/python3.*/site-packages/nvidia_pytriton-{VERSION}.dist-info")):
        return None
    return f"pytriton {VERSION} is not installed in {where}: run `make test-engines`"


def triton(
    port: int, metrics_port: int, *, batch_seconds: float = 0.1, environment: Path | None = None
) -> EngineSpec:
    """Serve the model at `port` by KServe's HTTP, its metrics at another; two requests make a batch of `batch_seconds`."""
    where = environment or environment_directory()
    command = (
        sys.executable, "-m", "forebay.testing.engines.lifeline",
        str(where / "bin" / "python"), str(files("forebay").joinpath("testing/engines/triton_app.py")),
        "--http-port", str(port),
        "--grpc-port", str(free_port()),
        "--metrics-port", str(metrics_port),
        "--batch-seconds", str(batch_seconds),
    )  # fmt: skip
    return EngineSpec("triton", MODEL, port, command, health_path=f"/v2/models/{MODEL}/ready")


def fitting_python() -> str:
    """Return an interpreter whose standard library is of the release of the shared libpython that the loader finds.

    Raises SystemExit with the cure when there is none.
    """
    for python in PYTHONS:
        if (
            Path(python).exists()
            and not subprocess.run((python, "-c", _FITS), capture_output=True, check=False).returncode
        ):
            return python
    raise SystemExit(
        f"Triton needs a Python (3.8 to 3.13) whose libpython is shared and found by the loader; none of "
        f"{', '.join(PYTHONS)} is one: install your distribution's python3-venv and libpython3"
    )


def install(environment: Path, requirements: Path) -> None:
    """Make the environment and install the pinned list into it; nothing is done where it is complete.

    Raises SystemExit with the cure when no Python fits or pip fails.
    """
    if triton_available(environment) is None:
        return
    subprocess.run((fitting_python(), "-m", "venv", str(environment)), check=True)
    pip = (str(environment / "bin" / "python"), "-m", "pip", "install", "--no-deps", "-r", str(requirements))
    if subprocess.run(pip, check=False).returncode != 0:
        raise SystemExit(f"Triton could not be installed from {requirements}: see what pip says above")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `install`."""
    command = argparse.ArgumentParser(prog="python -m forebay.testing.engines.triton", description=__doc__)
    command.add_argument("action", choices=["install"])
    command.add_argument("environment", type=Path)
    command.add_argument("--requirements", type=Path, default=Path("requirements/triton.txt"))
    options = command.parse_args(arguments)
    install(options.environment, options.requirements)


if __name__ == "__main__":
    main()
