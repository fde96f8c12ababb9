"""Room for bodies that one process may hold at a time."""

from collections import deque
from collections.abc import Callable

RESUME_BYTES = 1024 * 1024
"""What an upload that is resumed is taken to need soon. Resuming all for the sake of one byte would overrun the room."""


class BufferBudget:
    """Counts bytes held in bodies, by whoever holds them, and lets uploads wait for room.

    Taking never fails: who takes looks at `full` and stops reading. So the count can pass `max_bytes` by what was already on
    its way (one read of each connection, 64 KiB). Waiters are resumed first come, first served.

    When all that is held is held by unfinished uploads, nobody would ever give any back: then one of them goes on, and
    the count can pass `max_bytes` by the rest of its body.
    """

    __slots__ = ("_waiting", "_waiting_bytes", "max_bytes", "used_bytes")

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` >= 1."""
        self.max_bytes = max_bytes
        self.used_bytes = 0
        self._waiting: deque[tuple[Callable[[], None], int]] = deque()
        self._waiting_bytes = 0

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
        if not self._waiting:
            return
        for _ in range(max(1, (self.max_bytes - self.used_bytes) // RESUME_BYTES)):
            if not self._waiting or (self.full and self._waiting_bytes < self.used_bytes):
                break
            resume, held_bytes = self._waiting.popleft()
            self._waiting_bytes -= held_bytes
            resume()

    def wait(self, resume: Callable[[], None], held_bytes: int = 0) -> bool:
        """Call `resume` once when there is room again. False, and nothing is called: go on, for all others wait.

        `held_bytes` is what the upload has taken. `resume` must only arrange for things to go on: it is called from
        within `give`.
        """
        if self._waiting_bytes + held_bytes >= self.used_bytes:
            return False
        self._waiting.append((resume, held_bytes))
        self._waiting_bytes += held_bytes
        return True

    def forget(self, resume: Callable[[], None]) -> None:
        """Take a waiter out of the queue, if it is there."""
        for waiter in self._waiting:
            if waiter[0] == resume:
                self._waiting.remove(waiter)
                self._waiting_bytes -= waiter[1]
                break
