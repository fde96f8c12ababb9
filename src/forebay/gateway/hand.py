"""One worker's process, as its supervisor holds it: started, told, asked, and started again when it dies."""

import asyncio
import contextlib
import logging
import socket
import sys
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from forebay.domain.endpoint import EndpointView
from forebay.gateway.messages import (
    Adopt,
    AskFleet,
    AskLatest,
    AskState,
    AskStory,
    Begin,
    Down,
    DrainSlot,
    Fleet,
    Leave,
    Living,
    Moved,
    Refused,
    State,
    Story,
    Views,
    decode_up,
    encode,
)
from forebay.runtime.channel import Channel
from forebay.telemetry.tally import Tally, summed
from forebay.telemetry.worker_families import WorkerStatus

log = logging.getLogger(__name__)

# A worker that dies soon after its start will likely do so again: each time the wait doubles. One that has lived for
# LONG_SECONDS is started again at once.
FIRST_WAIT_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 5.0
LONG_SECONDS = 10.0
# A worker is busy for 5 ms with a large body. One that has not answered by then is told of by what it said last.
ANSWER_SECONDS = 2.0

# Nothing on a worker's loop takes longer than some milliseconds. One that has not turned for so long never will.
SILENCE_SECONDS = 30.0

Question = AskState | AskFleet | AskStory | AskLatest
Answer = TypeVar("Answer", State, Fleet, Story)


class Hand:
    """Worker `number`. `begin` gives the first message to each new process, `died` hears of the death of one.

    Counts of processes that are dead stay counted, as far as they were told.
    """

    def __init__(self, number: int, begin: Callable[[], Begin], died: Callable[[int], None]) -> None:
        self.number = number
        self.restarts = 0
        self.version = 0  # of the plan that it lives by; 0 until it serves
        self.serving = asyncio.Event()
        self.ended = asyncio.Event()
        self.pid = 0
        self._answered_at = 0.0
        self._silent = asyncio.Event()
        self._begin = begin
        self._died = died
        self._channel: Channel | None = None
        self._leaving = False
        self._views: dict[int, EndpointView] = {}  # not yet told
        self._questions: dict[int, asyncio.Future[State | Fleet | Story]] = {}
        self._asked = 0
        self._latest = State(0, ready=False, tally=Tally(), losses={})
        self._buried = self._latest  # all that dead processes had counted
        self._process: asyncio.subprocess.Process | None = None

    # --- life

    async def run(self) -> None:
        """Keep a process at work until it is told to leave, and has left."""
        quick_deaths = 0
        while True:
            began = time.monotonic()
            end = await self._lived()
            if self._leaving:
                break
            quick_deaths = 0 if time.monotonic() - began > LONG_SECONDS else quick_deaths + 1
            wait = min(FIRST_WAIT_SECONDS * 2**quick_deaths, LONGEST_WAIT_SECONDS) if quick_deaths else 0.0
            log.error("worker %d %s, and is started again in %.2f s", self.number, end, wait)
            self.restarts += 1
            await asyncio.sleep(wait)
        self.ended.set()

    async def _lived(self) -> str:
        """One process, from its start to its end. Returns how it ended."""
        try:
            process = await self._start()
        except OSError as error:
            return f"could not be started: {error}"
        status = await process.wait()
        await self._silent.wait()  # its last words are read
        self._bury()
        return f"ended with status {status}"

    async def _start(self) -> asyncio.subprocess.Process:
        ours, theirs = socket.socketpair()
        begin = self._begin()
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "forebay.gateway.worker_process",
                    str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(), begin.ledger, *begin.listeners),
                )
        except OSError:
            ours.close()
            raise
        ours.setblocking(False)
        self._silent.clear()
        channel = Channel(self._received, self._silent.set, self._tell_views)
        await asyncio.get_running_loop().create_connection(lambda: channel, sock=ours)
        self._process, self._channel, self.pid = process, channel, process.pid
        self._send(begin)
        self._tell_views()
        if self._leaving:
            self._send(Leave())
        return process

    def _bury(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = self._process = None
        self.serving.clear()
        self.version = 0
        self._unanswered()
        self._buried = _together(self._buried, self._latest)
        self._latest = State(0, ready=False, tally=Tally(), losses={})
        self._died(self.number)

    # --- what it is told

    def saw(self, views: Iterable[EndpointView]) -> None:
        """What the eyes have seen. While the worker is slow the newest of each endpoint are kept for it."""
        self._views |= {view.slot: view for view in views}
        self._tell_views()

    def adopt(self, message: Adopt) -> None:
        """Live by a new plan. None is left out: slots change hands from one plan to the next."""
        self._send(message)

    def moved(self, message: Moved) -> None:
        """A name stands for other addresses."""
        self._send(message)

    def drain_slot(self, message: DrainSlot) -> None:
        """Empty an endpoint, or take it back."""
        self._send(message)

    def leave(self) -> None:
        """Drain, and end."""
        self._leaving = True
        self._send(Leave())

    def kill(self) -> None:
        """End now."""
        self._leaving = True
        self._end()

    def end_if_silent(self) -> None:
        """End a process whose loop has stood still for SILENCE_SECONDS: its clients wait in vain, and another can serve."""
        silent = time.monotonic() - self._answered_at
        if self.serving.is_set() and silent > SILENCE_SECONDS:
            log.error("worker %d has not answered for %.0f s, and is ended", self.number, silent)
            self._end()

    def _end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    def _tell_views(self) -> None:
        if self._views and self._channel is not None and self._channel.room:
            self._send(Views(tuple(self._views.values())))
            self._views = {}

    def _send(self, message: Down) -> None:
        if self._channel is not None:
            self._channel.send(encode(message))

    # --- what it is asked

    @property
    def status(self) -> WorkerStatus:
        """For metrics."""
        return WorkerStatus(self.number, self.serving.is_set(), self.restarts)

    async def state(self) -> State:
        """How it is now, with the counts of its dead predecessors; as last told when it does not answer."""
        answer = await self._ask(AskState(self._next()), State)
        whole = _together(self._buried, self._latest)
        return msgspec.structs.replace(whole, ready=answer is not None and answer.ready)

    async def fleet(self) -> Fleet | None:
        """The endpoints as it believes them to be. None when it does not answer."""
        return await self._ask(AskFleet(self._next()), Fleet)

    async def story(self, request_id: str) -> Story | None:
        """What it knows of that request. None when it does not answer."""
        return await self._ask(AskStory(self._next(), request_id), Story)

    async def latest(self, limit: int) -> Story | None:
        """What it knows of its last requests. None when it does not answer."""
        return await self._ask(AskLatest(self._next(), limit), Story)

    def _next(self) -> int:
        self._asked += 1
        return self._asked

    async def _ask(self, question: Question, kind: type[Answer]) -> Answer | None:
        if self._channel is None or not self._channel.room:
            return None
        waiting: asyncio.Future[State | Fleet | Story] = asyncio.get_running_loop().create_future()
        self._questions[question.number] = waiting
        self._send(question)
        try:
            answer = await asyncio.wait_for(waiting, ANSWER_SECONDS)
        except TimeoutError:
            return None
        finally:
            self._questions.pop(question.number, None)
        return answer if isinstance(answer, kind) else None

    def _unanswered(self) -> None:
        """Whoever waits for an answer of this process waits in vain."""
        for waiting in self._questions.values():
            if not waiting.done():
                waiting.set_exception(TimeoutError())

    def _received(self, data: bytes) -> None:
        message = decode_up(data)
        self._answered_at = time.monotonic()
        if isinstance(message, State):
            # At once: whoever asked may go on after the process is dead and its counts are buried.
            self._latest = message
        if isinstance(message, Living):
            self.version = message.version
            self.serving.set()
        elif isinstance(message, Refused):
            log.error("worker %d cannot live by plan %d: %s", self.number, message.version, message.problem)
        elif (waiting := self._questions.get(message.number)) is not None and not waiting.done():
            waiting.set_result(message)


def _together(one: State, other: State) -> State:
    losses = {
        name: one.losses.get(name, 0) + other.losses.get(name, 0) for name in {**one.losses, **other.losses}
    }
    return State(0, ready=False, tally=summed([one.tally, other.tally]), losses=losses)
