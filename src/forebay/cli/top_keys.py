"""Single keys from a terminal, without waiting for a return key."""

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from types import TracebackType
from typing import Self


class Keys:
    """`with Keys() as keys`: `keys.wait(seconds)` gives the next key, or "" when none came or `keys.wake()` was called."""

    def __init__(self, descriptor: int | None = None) -> None:
        """Read from `descriptor`, a terminal; standard input when left out."""
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._descriptor)
        # Only lines are given up: Ctrl-C still interrupts.
        tty.setcbreak(self._descriptor)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
        # A late wake must not write into a file that has the number next.
        waker, self._waker = self._waker, -1
        os.close(waker)
        os.close(self._woken)

    def wake(self) -> None:
        """End the wait, from any thread."""
        with contextlib.suppress(OSError):  # full, or closed already
            os.write(self._waker, b"x")

    def wait(self, seconds: float) -> str:
        """The next key, or nothing."""
        ready, _, _ = select.select([self._descriptor, self._woken], [], [], seconds)
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._descriptor not in ready:
            return ""
        try:
            return os.read(self._descriptor, 1).decode("ascii", "replace") or "q"
        except OSError:  # the terminal is gone
            return "q"

    def pressed(self, seconds: float) -> Iterator[str]:
        """Every key, and nothing now and then, until `q`."""
        while (key := self.wait(seconds)) != "q":
            yield key
