"""Starting and ending the benchmark's processes: pinned to a core, without secrets, told from one another by their logs."""

import contextlib
import os
import resource
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
_STOP_SECONDS = 10.0


class Cores(NamedTuple):
    """Which core each part runs on."""

    router: int
    load: int
    engines: int


def choose_cores(available: Sequence[int]) -> Cores:
    """One core for the router alone; the load and the engines share the second, or get one each when there are three."""
    cores = sorted(available)
    return Cores(cores[0], cores[min(1, len(cores) - 1)], cores[min(2, len(cores) - 1)])


def bare_environment() -> dict[str, str]:
    """An environment for other people's programs: no token, key or proxy of ours in it."""
    return {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}


@contextlib.contextmanager
def pinned(core: int) -> Iterator[None]:
    """Processes started inside inherit `core` as their only one, and so size their thread pools by it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Process:
    """A child process with a log file."""

    def __init__(self, name: str, argv: Sequence[str], folder: Path, core: int | None = None) -> None:
        """Start it on `core`, or wherever there is room, with its working directory and its log in `folder`."""
        self.name = name
        self.log = folder / f"{name}.log"
        with contextlib.nullcontext() if core is None else pinned(core), self.log.open("wb") as log:
            self._popen = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, env=bare_environment()
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    def ended(self) -> str:
        """Empty while it runs; else how it ended, with the tail of its log."""
        code = self._popen.poll()
        if code is None:
            return ""
        return f"{self.name} ended with status {code}: {self.log.read_text(errors='replace')[-800:]}"

    def stop(self) -> None:
        """Ask it to end, then insist."""
        self._popen.terminate()
        try:
            self._popen.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()


def python(module: str, *arguments: str) -> list[str]:
    """The command line of a module of this installation."""
    return [sys.executable, "-m", module, *arguments]


def free_ports(count: int) -> list[int]:
    """TCP ports on 127.0.0.1 that were free a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_until_ready(process: Process, port: int, path: str = "/health", limit_seconds: float = 60.0) -> None:
    """Return when `path` answers 200. Raises RuntimeError when the process ends first, TimeoutError after the limit."""
    deadline = time.monotonic() + limit_seconds
    while time.monotonic() < deadline:
        if why := process.ended():
            raise RuntimeError(why)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2):
                return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(
        f"{process.name} did not answer {path} within {limit_seconds:.0f} s; its log is {process.log}"
    )


def raise_file_limit(wanted: int) -> int:
    """Let this process and its children open `wanted` files, or as many as the system allows; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            return wanted
        wanted = hard
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)
