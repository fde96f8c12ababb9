"""The ledger: a table of loads in shared memory, one row for each worker, who alone writes it.

Nothing is locked. A cell is an aligned int64, stored and loaded whole; a row may be seen half-way between two of its
worker's steps. Each row has a version that its writer raises after each change, so that readers see at a glance whether
there is news.
"""

import mmap
import operator
import os
import struct
from typing import Self

import msgspec

from forebay.config.slots import MAX_SLOTS
from forebay.domain.load import AMOUNTS, COUNTERS, Load, gained, together

ENTRY = struct.Struct(f"={len(AMOUNTS)}q")
VERSION = struct.Struct("=q")
# Pages that nobody has touched take no memory, so that room for many endpoints costs nothing.
SLOTS = MAX_SLOTS
# How often a look is taken anew because somebody wrote meanwhile, before it is taken as it is.
LOOKS = 3


class Ledger:
    """The table, as one process sees it. `descriptor` is handed to others, who see the same by `Ledger(descriptor, ...)`."""

    def __init__(self, descriptor: int, workers: int, slots: int = SLOTS) -> None:
        """Map what `create` has made, with the same numbers of workers and slots."""
        self.descriptor = descriptor
        self.workers = workers
        self.slots = slots
        self.memory = mmap.mmap(descriptor, _size(workers, slots))

    @classmethod
    def create(cls, workers: int, slots: int = SLOTS) -> Self:
        """A new one, all zeros, that lives as long as somebody has it mapped or its descriptor open."""
        descriptor = os.memfd_create("forebay-ledger")
        os.ftruncate(descriptor, _size(workers, slots))
        return cls(descriptor, workers, slots)

    def row_at(self, worker: int) -> int:
        """Where the worker's row begins, in bytes. Rows do not share a page."""
        return mmap.PAGESIZE * _pages(self.workers * VERSION.size) + worker * _row_bytes(self.slots)

    def version(self, worker: int) -> int:
        """How often the worker's row has changed."""
        found: int = VERSION.unpack_from(self.memory, worker * VERSION.size)[0]
        return found

    def changed(self, worker: int) -> None:
        """Tell readers that the worker's row has changed."""
        VERSION.pack_into(self.memory, worker * VERSION.size, self.version(worker) + 1)

    def load(self, worker: int, slot: int) -> Load:
        """What the worker has at the endpoint."""
        return Load(slot, *ENTRY.unpack_from(self.memory, self.row_at(worker) + slot * ENTRY.size))

    def clear(self, worker: int, slots: int) -> None:
        """Zero the first so many entries of a worker that is dead, and reaped, so that nobody writes there any more."""
        begin, length = self.row_at(worker), slots * ENTRY.size
        self.memory[begin : begin + length] = bytes(length)
        self.changed(worker)

    def close(self) -> None:
        """Unmap it, and close the descriptor."""
        self.memory.close()
        os.close(self.descriptor)


class OwnRow:
    """The one writer of a row."""

    def __init__(self, ledger: Ledger, worker: int) -> None:
        self._ledger = ledger
        self._worker = worker
        self._begin = ledger.row_at(worker)
        self._version = ledger.version(worker)

    def write(self, load: Load) -> None:
        """What this worker now has at an endpoint. Raises IndexError beyond the table's slots."""
        if load.slot >= self._ledger.slots:
            raise IndexError(f"slot {load.slot}: the ledger has {self._ledger.slots}")
        amounts = msgspec.structs.astuple(load)[1:]
        ENTRY.pack_into(self._ledger.memory, self._begin + load.slot * ENTRY.size, *amounts)
        self._version += 1
        VERSION.pack_into(self._ledger.memory, self._worker * VERSION.size, self._version)


class OtherRows:
    """All rows but one's own, read as one: what all other workers together have at each endpoint.

    Counters are told from when an endpoint was first looked at, and never fall: what a worker had counted before it died
    stays counted.
    """

    def __init__(self, ledger: Ledger, worker: int) -> None:
        self._ledger = ledger
        self._own = worker
        self._begins = {other: ledger.row_at(other) for other in range(ledger.workers) if other != worker}
        self._versions_seen = b""
        self._rows = dict.fromkeys(self._begins, b"")  # as last looked at
        self._counted: dict[int, tuple[int, ...]] = {}  # by slot

    def news(self, slots: int) -> tuple[Load, ...]:
        """Loads of the first so many slots that differ from those of the last call."""
        length = slots * ENTRY.size
        if self._versions() == self._versions_seen and all(len(row) == length for row in self._rows.values()):
            return ()
        before, self._rows = self._rows, self._look(length)
        changed = {
            slot for other, row in self._rows.items() for slot in _differences(before[other], row, 0, slots)
        }
        return tuple(self._combined(slot, before) for slot in sorted(changed))

    def _versions(self) -> bytes:
        size, memory = VERSION.size, self._ledger.memory
        own, end = self._own * size, self._ledger.workers * size
        return memory[:own] + memory[own + size : end]

    def _look(self, length: int) -> dict[int, bytes]:
        """All rows as they stood at one moment; after LOOKS attempts, as they stand."""
        memory = self._ledger.memory
        for _ in range(LOOKS):
            self._versions_seen = self._versions()
            rows = {other: memory[begin : begin + length] for other, begin in self._begins.items()}
            if self._versions() == self._versions_seen:
                break
        return rows

    def _combined(self, slot: int, before: dict[int, bytes]) -> Load:
        loads = [_entry(slot, row) for row in self._rows.values()]
        counted = self._counted.get(slot, (0,) * len(COUNTERS))
        for row, now in zip(before.values(), loads, strict=True):
            if len(row) > slot * ENTRY.size:  # else this is the first look at the endpoint
                was = _entry(slot, row)
                if was != now:
                    counted = tuple(map(operator.add, counted, gained(was, now)))
        self._counted[slot] = counted
        gauges = msgspec.structs.astuple(together(slot, loads))[: -len(COUNTERS)]
        return Load(*gauges, *counted)


def _entry(slot: int, row: bytes) -> Load:
    at = slot * ENTRY.size
    return Load(slot, *ENTRY.unpack_from(row, at)) if len(row) > at else Load(slot)


def _differences(before: bytes, now: bytes, first: int, end: int) -> list[int]:
    """Slots from `first` to before `end` at which two copies of a row differ; what one lacks differs unless it is zero.

    Halves are compared as a whole: few of many endpoints change between two looks.
    """
    low, high = first * ENTRY.size, end * ENTRY.size
    if now[low:high] == before[low:high].ljust(high - low, b"\0"):
        return []
    if end - first == 1:
        return [first]
    middle = (first + end) // 2
    return _differences(before, now, first, middle) + _differences(before, now, middle, end)


def _row_bytes(slots: int) -> int:
    return mmap.PAGESIZE * _pages(slots * ENTRY.size)


def _pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE)


def _size(workers: int, slots: int) -> int:
    return mmap.PAGESIZE * _pages(workers * VERSION.size) + workers * _row_bytes(slots)
