"""Room for bodies that one process may hold at a time."""

from collections import deque
from collections.abc import Callable

RESUME_BYTES = 1024 * 1024
"""What an upload that is resumed is taken to need soon. Resuming all for the sake of one byte would overrun the room."""


class BufferBudget:
    """Counts bytes held in bodies, by whoever holds them, and lets uploads wait for room.

    Taking never fails: who takes looks at `full` and stops reading. So the count can pass `max_bytes` by what was already on
    its way (one read of each connection, 64 KiB). Waiters are resumed first come, first served.
    """

    __slots__ = ("_waiting", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` >= 1."""
        self.max_bytes = max_bytes
        self.used_bytes = 0
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def full(self) -> bool:
        """No more should be read until something is given back."""
        return self.used_bytes >= self.max_bytes

    @property
    def waiting(self) -> int:
        """Uploads that wait for room."""
        return len(self._waiting)

    def take(self, size: int) -> None:
        """Count `size` bytes that are now held."""
        self.used_bytes += size

    def give(self, size: int) -> None:
        """Give back what was taken, and resume as many waiters as there is room for, but one at least."""
        self.used_bytes -= size
        for _ in range(max(1, (self.max_bytes - self.used_bytes) // RESUME_BYTES)):
            if self.full or not self._waiting:
                break
            self._waiting.popleft()()

    def wait(self, resume: Callable[[], None]) -> None:
        """Call `resume` once when there is room again. It must only arrange for things to go on: it is called from within `give`."""
        self._waiting.append(resume)

    def forget(self, resume: Callable[[], None]) -> None:
        """Take a waiter out of the queue, if it is there."""
        if resume in self._waiting:
            self._waiting.remove(resume)
