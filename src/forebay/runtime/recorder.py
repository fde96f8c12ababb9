"""Writes a decision log: a conductor's events and commands, from its start until the file is full."""

import logging
import os
import threading
from collections import deque
from pathlib import Path

import msgspec

from forebay.conductor.commands import Command
from forebay.conductor.events import Event, PlanChanged
from forebay.config.assemble import Recipe
from forebay.runtime.front import Mind
from forebay.runtime.records import Head, entry_of, framed, without_secrets

log = logging.getLogger(__name__)

# Records that may wait for the disk. Some 20,000 requests: the disk may be away for seconds.
MOST_WAITING_BYTES = 64 * 1024 * 1024
FLUSH_SECONDS = 0.2
SUFFIX = ".decisions"


class Recorder:
    """Handles events as `mind` does, and writes them down in `file`, which it makes.

    The loop only encodes, some 5 us an event. A thread of its own writes, a few times a second. A log that has lost an entry
    cannot be replayed beyond it: with the first that finds no room, the log ends, and `dropped` counts what is missing.
    """

    def __init__(self, mind: Mind, file: Path, head: Head, max_bytes: int) -> None:
        """Raises OSError when `file` cannot be written."""
        self.dropped = 0
        self._mind = mind
        self._recipe = head.recipe
        self._left = max_bytes
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._stream = file.open("xb", buffering=0)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="decision log", daemon=True)
        self._put(msgspec.msgpack.encode(msgspec.structs.replace(head, recipe=without_secrets(head.recipe))))
        self._thread.start()

    def handle(self, event: Event) -> list[Command]:
        """What `mind` says."""
        commands = self._mind.handle(event)
        if self.dropped:
            self.dropped += 1
            return commands
        try:
            recipe = without_secrets(self._recipe) if type(event) is PlanChanged else None
            self._put(entry_of(event, commands, recipe))
        except Exception:
            # A log must never harm traffic: what the commands are for goes on.
            log.exception("the decision log ends: %s could not be written down", type(event).__name__)
            self.dropped = 1
        return commands

    def adopt(self, recipe: Recipe) -> None:
        """The next PlanChanged brings the plan of this recipe."""
        self._recipe = recipe

    def losses(self) -> dict[str, int]:
        """Counters, by the family's name."""
        return {"forebay_decision_log_dropped": self.dropped}

    def close(self, patience_seconds: float = 2.0) -> None:
        """Write what waits, and end. A disk that is stuck for longer is abandoned."""
        self._closing.set()
        self._thread.join(patience_seconds)

    def _put(self, record: bytes) -> None:
        data = framed(record)
        if len(data) > self._left or self._waiting_bytes + len(data) > MOST_WAITING_BYTES:
            self.dropped = 1
            return
        self._left -= len(data)
        self._waiting_bytes += len(data)
        self._waiting.append(data)

    def _run(self) -> None:
        with self._stream:
            while not self._closing.wait(FLUSH_SECONDS):
                self._flush()
            self._flush()

    def _flush(self) -> None:
        batch = b"".join(self._waiting.popleft() for _ in range(len(self._waiting)))
        view = memoryview(batch)
        try:
            while view:
                view = view[os.write(self._stream.fileno(), view) :]
        except OSError:
            self.dropped = self.dropped or 1
        self._waiting_bytes -= len(batch)


def new_file(folder: Path, worker: int, keep: int, stamp: str) -> Path:
    """A name for the next log of a worker, and room for it: of those that are there, the newest `keep` less one stay.

    `stamp` is the time, such that later ones sort later. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    before = sorted(folder.glob(f"worker-{worker}.*{SUFFIX}"))
    for old in before[: max(0, len(before) - keep + 1)]:
        old.unlink(missing_ok=True)
    return folder / f"worker-{worker}.{stamp}{SUFFIX}"
