"""What a probe is, and one that runs a command."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from forebay.domain.hardware import Device

COMMAND_SECONDS = 5.0
"""A tool that has not answered by then tells nothing: drivers that start from cold take 1 to 3 s."""

MAX_OUTPUT_BYTES = 1 << 20
"""A tool that writes more tells nothing: a host of 16 devices takes some 50 KiB."""

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
        """Run it once. Raises Unavailable when it is not there, fails, or takes or writes too much."""
        tool = self._command[0]
        try:
            status, output, complaint = _run(self._command)
        except FileNotFoundError:
            raise Unavailable(f"{tool} is not installed") from None
        except OSError as error:
            raise Unavailable(f"{tool}: {error}") from None
        if status:
            said = (output.strip() or complaint.strip()).partition("\n")[0]
            raise Unavailable(f"{tool} ended with status {status}: {said}")
        return self._parse(output)

    def close(self) -> None:
        """Nothing is held between two runs."""


def _run(command: Sequence[str]) -> tuple[int, str, str]:
    """Status, output and complaints of a command. Raises OSError, TimeoutError among them.

    One that complains for longer than a pipe holds waits until its time is over.
    """
    with subprocess.Popen(  # noqa: S603 - a fixed command of ours
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(COMMAND_SECONDS, end)
        timer.start()
        try:
            output = process.stdout.read(MAX_OUTPUT_BYTES + 1)
            if len(output) > MAX_OUTPUT_BYTES:
                _kill(process)
                raise OSError(f"wrote more than {MAX_OUTPUT_BYTES} bytes")
            complaint = process.stderr.read(MAX_OUTPUT_BYTES)
            status = process.wait()
        finally:
            timer.cancel()
    if late.is_set():
        raise TimeoutError(f"timed out after {COMMAND_SECONDS:g} seconds")
    return status, output.decode(errors="replace"), complaint.decode(errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it and what it has started, which could keep its pipes open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
