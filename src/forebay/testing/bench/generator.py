"""The runner's end of the load generator: jobs go in, results come out."""

import subprocess
from collections.abc import Callable
from types import TracebackType
from typing import IO, Generic, NamedTuple, Self, TypeVar

import msgspec

from forebay.testing.bench.jobs import Job, Result
from forebay.testing.bench.processes import bare_environment, pinned, python

Reading = TypeVar("Reading")


class Measured(NamedTuple, Generic[Reading]):
    """What the load saw, and the two readings taken around it."""

    load: Result
    before: Reading
    after: Reading


class Generator:
    """A load generator process; use it as a context manager."""

    def __init__(self, core: int) -> None:
        """Start it on `core`."""
        with pinned(core):
            self._popen = subprocess.Popen(
                python("forebay.testing.bench.client"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=bare_environment(),
            )

    def __enter__(self) -> Self:
        """Ready at once."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it: it leaves when its input ends."""
        del kind, error, trace
        self._input.close()
        try:
            self._popen.wait(5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._output.close()

    def perform(self, job: Job, read: Callable[[], Reading]) -> Measured[Reading]:
        """Do one job; take a reading when its connections are open, and another when its last answer has come.

        A job with `hold` has all its streams open at the second reading. Raises RuntimeError when the process dies.
        """
        self._say(msgspec.json.encode(job))
        self._hear()
        before = read()
        self._say(b"go")
        line = self._hear()
        after = read()
        if job.hold:
            self._say(b"release")
        return Measured(msgspec.json.decode(line, type=Result), before, after)

    @property
    def _input(self) -> IO[bytes]:
        assert self._popen.stdin is not None
        return self._popen.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self._popen.stdout is not None
        return self._popen.stdout

    def _say(self, line: bytes) -> None:
        self._input.write(line + b"\n")
        self._input.flush()

    def _hear(self) -> bytes:
        line = self._output.readline()
        if not line:
            raise RuntimeError(f"the load generator ended with status {self._popen.wait()}")
        return line
