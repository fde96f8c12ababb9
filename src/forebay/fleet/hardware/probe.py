"""What a probe is, and one that runs a command."""

import subprocess
from collections.abc import Callable, Sequence
from typing import Protocol

from forebay.domain.hardware import Device

COMMAND_SECONDS = 5.0
"""A tool that has not answered by then tells nothing: drivers that start from cold take 1 to 3 s."""

Devices = tuple[Device, ...]


class Unavailable(Exception):  # noqa: N818 - reads as what it says
    """The probe cannot tell anything on this host, for the reason given."""


class Probe(Protocol):
    """One way to read this host's devices. Blocks; called from one thread."""

    def read(self) -> Devices:
        """Return what can be read now, one entry per device. Raises Unavailable."""
        ...

    def close(self) -> None:
        """Let go of what is held. Safe to call twice."""
        ...


class CommandProbe:
    """Runs `command`, and has `parse` read what it writes to standard output."""

    def __init__(self, command: Sequence[str], parse: Callable[[str], Devices]) -> None:
        self._command = tuple(command)
        self._parse = parse

    def read(self) -> Devices:
        """Run it once. Raises Unavailable when it is not there, fails, or takes longer than COMMAND_SECONDS."""
        tool = self._command[0]
        try:
            done = subprocess.run(  # noqa: S603 - a fixed command of ours
                self._command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=COMMAND_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise Unavailable(f"{tool} is not installed") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"{tool}: {error}") from None
        if done.returncode:
            said = (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]
            raise Unavailable(f"{tool} ended with status {done.returncode}: {said}")
        return self._parse(done.stdout)

    def close(self) -> None:
        """Nothing is held between two runs."""
