"""Bringing the peers: pinned by version and hash, each into an environment of its own."""

import os
import re
import shutil
import subprocess
import sys
import venv
from importlib.resources import files
from pathlib import Path
from typing import ClassVar


def cache_folder() -> Path:
    """Where peers are installed: `$XDG_CACHE_HOME/forebay/bench`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forebay" / "bench"


class Wheels:
    """A peer that comes as Python wheels: all of them listed, with hashes, in `peers/<name>.txt`."""

    name: ClassVar[str]

    def version(self) -> str:
        """The pinned version, once installed."""
        return self._pinned() if self.python().exists() else ""

    def cure(self) -> str:
        """The benchmark brings it."""
        return "forebay bench router --install"

    def install(self) -> None:
        """Install the pinned wheels. Raises RuntimeError when the package index cannot give them."""
        target = self._folder()
        unfinished = target.with_name(target.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        venv.create(unfinished, symlinks=True, with_pip=False)
        pip = [sys.executable, "-m", "pip", f"--python={unfinished / 'bin' / 'python'}", "install", "--quiet"]
        pinned = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(self._list())]
        _run([*pip, "--disable-pip-version-check", *pinned])
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)

    def python(self) -> Path:
        """The interpreter of its environment; it exists only after a finished installation."""
        return self._folder() / "bin" / "python"

    def program(self, name: str) -> list[str]:
        """The command line of one of its programs, whose own first line names a folder that has moved since."""
        return [str(self.python()), str(self._folder() / "bin" / name)]

    def _folder(self) -> Path:
        return cache_folder() / f"{self.name}-{self._pinned()}"

    def _list(self) -> Path:
        return Path(str(files("forebay").joinpath(f"testing/bench/peers/{self.name}.txt")))

    def _pinned(self) -> str:
        match = re.search(rf"^{self.name}(?:\[\w+\])?==(\S+)", self._list().read_text(), re.MULTILINE)
        assert match is not None, "the list pins the peer itself"
        return match[1]


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
