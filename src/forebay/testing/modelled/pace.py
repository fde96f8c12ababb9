"""The simulator's engine in the time of a running loop: each of its steps is over when the clock says so."""

import asyncio
import math
from collections.abc import Callable

from forebay.simulator.engine.engine import Engine, Happened, Step
from forebay.simulator.engine.job import Job

Heard = Callable[[Step, Happened], None]


class Pace:
    """Runs an engine whose steps are not coalesced. `speed` is how many of its seconds pass in one of the clock's.

    A timer that fires late delays what is told of a step, not the step: no lag adds up.
    """

    def __init__(self, engine: Engine, speed: float, heard: Heard) -> None:
        """`heard` takes each step and what came of it. Must be called inside a running loop."""
        self.engine = engine
        self.speed = speed
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._zero = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def now(self) -> float:
        """Seconds of the engine's time."""
        return (self._loop.time() - self._zero) * self.speed

    def clock(self, at: float) -> float:
        """The loop's time at a moment of the engine's: seconds of the machine's monotonic clock."""
        return self._zero + at / self.speed

    def submit(self, job: Job) -> float:
        """A job arrives now; returns when that is in the engine's time."""
        now = self._catch_up()
        self.engine.submit(job, now)
        self._await_step()
        return now

    def cancel(self, job: Job) -> None:
        """Its client has gone."""
        self.engine.cancel(job, self._catch_up())
        self._await_step()

    def kv_tokens(self) -> int:
        """Tokens that running requests hold in the engine's cache now."""
        now = self._catch_up()
        self._await_step()
        return self.engine.kv_tokens(now)

    async def until(self, at: float) -> None:
        """Wait for a moment of the engine's time. Returns at once when it has passed."""
        await asyncio.sleep(max(0.0, self.clock(at) - self._loop.time()))

    def close(self) -> None:
        """Let no more happen."""
        if self._timer is not None:
            self._timer.cancel()

    def _await_step(self) -> None:
        self.close()
        due = self.engine.due
        self._timer = None if math.isinf(due) else self._loop.call_at(self.clock(due), self._step_over)

    def _step_over(self) -> None:
        self._catch_up()
        self._await_step()

    def _catch_up(self) -> float:
        now = self.now
        while self.engine.due <= now:
            step = self.engine.step()
            assert step is not None, "what is due is in progress"
            self._heard(step, self.engine.happen())
        return now
