"""What truly became of each request at a modelled engine: for measuring what others believe of it."""

from collections import deque
from collections.abc import Callable, Mapping

import msgspec

from forebay.simulator.engine.engine import Happened, Step
from forebay.simulator.engine.job import Job

KEPT = 20_000


class Joined(msgspec.Struct, frozen=True):
    """A request whose prompt was worked on while another one's answer was written, and how long that held the answer up."""

    request_id: str
    at: float
    seconds: float


class Truth(msgspec.Struct):
    """One request. Moments and spans are seconds of the machine's monotonic clock; -1.0 for what has not come.

    From `arrived` to `entered` it waited in the engine's queue; from there to `first` its media were encoded, for
    `encode_seconds`, and its prompt was computed; from there to `ended` its answer was written. What the engine's API spends
    on top is not among these. `gone`: its client has left.
    """

    request_id: str
    arrived: float
    prompt_tokens: int
    output_tokens: int
    patches: int
    cached_tokens: int = 0
    entered: float = -1.0
    encode_seconds: float = 0.0
    first: float = -1.0
    ended: float = -1.0
    preemptions: int = 0
    gone: bool = False
    interference: list[Joined] = msgspec.field(default_factory=list)


class Truths:
    """Watches an engine's steps. A job's key is its Truth.

    `done` are the requests that have ended or gone, oldest first, the last KEPT of them.
    """

    def __init__(self, clock: Callable[[float], float]) -> None:
        """`clock` turns a moment of the engine's time into one of the machine's."""
        self.done: deque[Truth] = deque(maxlen=KEPT)
        self._clock = clock

    def left(self, job: Job) -> None:
        """Its client has gone before the end."""
        truth = truth_of(job)
        truth.gone = True
        self.done.append(truth)

    def heard(self, step: Step, happened: Happened) -> None:
        """A step is over."""
        for job, tokens in step.chunks.items():
            self._worked_on(job, tokens, step)
        if step.chunks and step.decoding:
            self._held_up(step)
        now = self._clock(happened.at)
        for job in happened.first:
            truth_of(job).first = now
        for job in happened.ended:
            truth = truth_of(job)
            truth.ended, truth.preemptions = now, job.preemptions
            self.done.append(truth)

    def _worked_on(self, job: Job, tokens: int, step: Step) -> None:
        truth = truth_of(job)
        if truth.entered < 0:
            truth.entered = self._clock(step.began)
            truth.cached_tokens = max(0, job.computed - tokens)
        truth.encode_seconds += self._span(step.encode_seconds * _part(step.patches, job))

    def _held_up(self, step: Step) -> None:
        """Everyone who decoded waited for those whose prompts, and media, were in the step."""
        encode = step.encode_seconds
        prefill = step.ends - step.began - step.plain_seconds - encode
        at = self._clock(step.began)
        joined = [
            Joined(
                truth_of(job).request_id,
                at,
                self._span(prefill * _part(step.chunks, job) + encode * _part(step.patches, job)),
            )
            for job in step.chunks
        ]
        for job in step.decoding:
            truth_of(job).interference += joined

    def _span(self, seconds: float) -> float:
        return self._clock(seconds) - self._clock(0.0)


def truth_of(job: Job) -> Truth:
    """What is kept of a job."""
    assert isinstance(job.key, Truth)
    return job.key


def _part(amounts: Mapping[Job, int], job: Job) -> float:
    """The part of the whole that is the job's, in proportion."""
    whole = sum(amounts.values())
    return amounts.get(job, 0) / whole if whole else 0.0
