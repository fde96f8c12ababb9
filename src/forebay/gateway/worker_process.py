"""A worker in a process of its own. Started by its supervisor, which it hears, obeys, and does not survive.

Run as `python -m forebay.gateway.worker_process DESCRIPTOR`; all else comes over the channel at that descriptor.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from forebay.conductor.events import Woke
from forebay.config.assemble import follow
from forebay.config.errors import ConfigError
from forebay.gateway.messages import (
    Adopt,
    AskFleet,
    AskLatest,
    AskState,
    AskStory,
    Begin,
    DrainSlot,
    Fleet,
    Leave,
    Living,
    Moved,
    Refused,
    SeenRow,
    State,
    Story,
    Up,
    Views,
    decode_down,
    encode,
)
from forebay.gateway.seat import Seat
from forebay.gateway.worker import Worker
from forebay.runtime.allocator import keep_freed_memory
from forebay.runtime.channel import Channel
from forebay.runtime.ledger import Ledger
from forebay.telemetry.access_log import AccessLog, WholeLines, open_stream

log = logging.getLogger(__name__)

# The supervisor tells what is to be done; a terminal's Ctrl-C, and a service manager, tell all processes at once.
SUPERVISORS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Employment:
    """From the supervisor's first message to the worker's last words."""

    def __init__(self, logs: contextlib.ExitStack) -> None:
        """`logs` closes what the worker writes to."""
        self.channel = Channel(self._received, self._abandoned)
        self.over = asyncio.Event()
        self.status = 0  # of the process, when it is over
        self._logs = logs
        self._worker: Worker | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._acts: dict[type, Callable[[Worker, Any], None]] = {
            Views: lambda worker, message: worker.saw(message.views),
            Moved: lambda worker, message: worker.moved(message.host, message.addresses),
            Adopt: self._adopt,
            DrainSlot: lambda worker, message: worker.drain_slot(
                message.slot, draining=message.draining, limit_seconds=message.limit_seconds
            ),
            Leave: lambda worker, _message: self._do(self._leave(worker)),
            AskState: lambda worker, message: self._tell(_state(worker, message.number)),
            AskFleet: lambda worker, message: self._tell(_fleet(worker, message.number)),
            AskStory: lambda worker, message: self._tell(
                Story(message.number, worker.story(message.request_id))
            ),
            AskLatest: lambda worker, message: self._tell(
                Story(message.number, worker.desk.latest(message.limit))
            ),
        }

    # --- what the channel tells

    def _received(self, data: bytes) -> None:
        message = decode_down(data)
        try:
            if isinstance(message, Begin):
                self._begin(message)
            elif self._worker is not None:
                self._acts[type(message)](self._worker, message)
        except Exception:
            # What is open here must not suffer from it; a worker that could not begin has nothing open.
            log.exception("a message could not be carried out: %s", type(message).__name__)
            if self._worker is None:
                self._fail()

    def _abandoned(self) -> None:
        """There is no supervisor any more: nobody looks at the endpoints, so that nothing new is taken in."""
        if self._worker is None:
            self.over.set()
        elif not self._worker.draining:
            log.warning("the supervisor is gone: what is open here ends, and nothing new begins")
            self._do(self._leave(self._worker, lag=False))

    # --- life

    def _begin(self, message: Begin) -> None:
        try:
            assembly = follow(message.recipe)
        except ConfigError as error:
            self._tell(Refused(message.recipe.version, str(error)))
            self._fail()
            return
        ledger = Ledger(message.ledger, message.workers, message.ledger_slots)
        stream = open_stream(assembly.file.access_log.path, self._logs)
        access_log = AccessLog(WholeLines(stream.fileno())) if stream is not None else None
        seat = Seat(message.worker, message.workers, ledger)
        self._worker = Worker(assembly, access_log, seat=seat)
        for host, addresses in message.addresses.items():
            self._worker.moved(host, addresses)
        for drain in message.drains:
            self._acts[DrainSlot](self._worker, drain)
        self._do(self._serve(self._worker, message))

    async def _serve(self, worker: Worker, message: Begin) -> None:
        await worker.serve(*(socket.socket(fileno=each) for each in message.listeners))
        self._tell(Living(message.recipe.version))

    def _adopt(self, worker: Worker, message: Adopt) -> None:
        version = message.recipe.version
        try:
            worker.adopt(follow(message.recipe))
        except ConfigError as error:
            self._tell(Refused(version, str(error)))
        else:
            self._tell(Living(version))

    async def _leave(self, worker: Worker, *, lag: bool = True) -> None:
        await worker.drain(lag=lag)
        await worker.stop()
        self._tell(_state(worker, 0))
        self.over.set()

    def _tell(self, message: Up) -> None:
        self.channel.send(encode(message))

    def _do(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("this worker cannot go on", exc_info=task.exception())
            self._fail()

    def _fail(self) -> None:
        self.status = 1
        self.over.set()


def _state(worker: Worker, number: int) -> State:
    desk = worker.desk
    return State(number, worker.ready, desk.counters.tally, desk.losses())


def _fleet(worker: Worker, number: int) -> Fleet:
    worker.driver.feed(Woke(worker.driver.clock()))  # so that what the peers have is of now
    return Fleet(number, tuple(SeenRow.of(row) for row in worker.rows()), worker.desk.served())


async def work(channel: socket.socket) -> int:
    """Be a worker, by what the channel says, until it is over. Returns the exit status."""
    with contextlib.ExitStack() as logs:
        employment = Employment(logs)
        await asyncio.get_running_loop().create_connection(lambda: employment.channel, sock=channel)
        await employment.over.wait()
        employment.channel.close()
        await asyncio.sleep(0)
        return employment.status


def main() -> int:
    """Be a worker for as long as the supervisor wishes. 0 after a graceful end, 1 when it could not begin or go on."""
    import uvloop

    for number in SUPERVISORS:
        signal.signal(number, signal.SIG_IGN)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    keep_freed_memory()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    sys.exit(main())
