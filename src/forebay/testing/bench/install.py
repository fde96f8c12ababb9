"""Bringing the peers: pinned by version and hash, into a folder of the benchmark's own."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

VLLM_ROUTER_VERSION = "0.1.17"
_VLLM_ROUTER_REQUIREMENT = f"""vllm-router=={VLLM_ROUTER_VERSION} \\
  --hash=sha256:1ec4d5ce14c19431cc84e36238507dff89020ab024d99f042f091f5e9f2c895a \\
  --hash=sha256:6c37f9a8fb71ba3bda307f6a8a82792c0da86526dcddc97a81928929c4457d9d \\
  --hash=sha256:85c96bea4d573a49b5a8ae4c72ee3dfe733aba26b6f1ff1256e6142f1f42694d
"""
VLLM_ROUTER_START = """
import argparse
from vllm_router.router import Router
from vllm_router.router_args import RouterArgs
parser = argparse.ArgumentParser()
RouterArgs.add_cli_args(parser)
arguments = RouterArgs.from_cli_args(parser.parse_args())
arguments._validate_router_args()
Router.from_args(arguments).start()
"""
"""What the program `vllm-router` itself does, without its import of a debugging balancer in Python. That import needs
five more packages, is never used here, and would only add to the peer's memory."""


def cache_folder() -> Path:
    """Where peers are installed: `$XDG_CACHE_HOME/forebay/bench`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forebay" / "bench"


def vllm_router_python() -> Path:
    """The interpreter of the peer's environment; it exists only after a finished installation."""
    return cache_folder() / f"vllm-router-{VLLM_ROUTER_VERSION}" / "bin" / "python"


def install_vllm_router() -> None:
    """Install the pinned wheel. Raises RuntimeError when the package index cannot give it."""
    target = vllm_router_python().parent.parent
    unfinished = target.with_name(target.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    venv.create(unfinished, symlinks=True, with_pip=False)
    requirement = unfinished / "requirement.txt"
    requirement.write_text(_VLLM_ROUTER_REQUIREMENT)
    packages = next((unfinished / "lib").glob("python*/site-packages"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pinned = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(requirement)]
    _run([*pip, *pinned, "--target", str(packages)])
    shutil.rmtree(target, ignore_errors=True)
    unfinished.rename(target)


def install_nginx() -> None:
    """Install the distribution's nginx. Raises PermissionError without root, RuntimeError when apt-get fails."""
    if os.geteuid() != 0:
        raise PermissionError("apt-get needs root: sudo apt-get install nginx-light")
    _run(["apt-get", "update", "-qq"])
    _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "nginx-light"])


def _run(argv: list[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} ended with status {done.returncode}: {done.stderr.strip()[-400:]}")
