"""Continuous batching with chunked prefill, as vLLM's scheduler does it, one step after the other.

A step that only decodes changes nothing but the clock and the length of each sequence. So runs of such steps are not events: they are
added up when somebody looks, by the very additions that stepping would make, in the same order, hence equal to the last bit.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from forebay.simulator.engine.blocks import Blocks
from forebay.simulator.engine.caches import LeastRecent, PrefixCache
from forebay.simulator.engine.job import Job
from forebay.simulator.engine.steps import StepModel


@dataclass(frozen=True)
class EngineSettings:
    """How an engine is set up. The defaults are vLLM's."""

    token_budget: int = 2_048
    max_sequences: int = 256
    # Patches that one step may encode before the first item too many waits for the next step.
    encoder_budget_patches: int = 16_384
    block_tokens: int = 16
    # Items, or tokens, as the sizes that jobs give to `media` are counted: here each item counts 1.
    encoder_cache_items: int = 0
    prefix_caching: bool = True
    # Off: sequences only enter when their whole prompt fits, and growth beyond the cache is let be, as simpler models do.
    preemption: bool = True
    coalesce: bool = True


@dataclass
class Happened:
    """What the driver must hear of one step: jobs whose first token was written, and jobs that ended. `at` in seconds."""

    at: float
    first: list[Job] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    """One step, for those who want to know whose work made it as long as it is. Seconds; tokens of prompts by job.

    `patches` are those that it encodes, by job. `plain_seconds` is what it would take if it only decoded.
    """

    began: float
    ends: float
    chunks: Mapping[Job, int]
    patches: Mapping[Job, int]
    encode_seconds: float
    plain_seconds: float
    decoding: tuple[Job, ...]


class Engine:
    """One engine. The driver asks for `due`, and calls `happen` then; it may `submit` and `cancel` at any time between."""

    def __init__(self, steps: StepModel, settings: EngineSettings | None = None) -> None:
        """Idle, with empty caches."""
        self.steps = steps
        self.settings = settings or EngineSettings()
        self.capacity_tokens = steps.kv_capacity_tokens
        self.encoder_cache = LeastRecent(self.settings.encoder_cache_items)
        self.prefixes = PrefixCache(self.capacity_tokens if self.settings.prefix_caching else 0)
        self.waiting: deque[Job] = deque()
        self.preemptions = 0
        self._numbers = itertools.count()
        self._running: dict[Job, None] = {}  # in the order of their coming
        self._slower: StepModel | None = None  # takes over with the next step
        self._costs = (0.0, 0.0)  # of a step of the run, and of a token in the cache
        self._gaps: list[tuple[float, int]] = []
        self._largest_gap = 0.0
        self._leaving: list[Job] = []  # those whose clients have gone; they stay until the step is over
        self._finishes: list[tuple[int, int, Job]] = []  # by the step that writes the last token
        self._blocks = Blocks(self.settings.block_tokens)
        self._kv = 0  # tokens in the cache of sequences that decode: each step reads them back
        self._partial = 0  # and of prompts that are being computed
        self._step = 0  # steps that are over
        self._at = 0.0  # when the last of them ended
        self._busy = False
        self._chunks: list[tuple[Job, int]] = []  # what the step in progress prefills
        self._encoding: dict[Job, list[int]] = {}  # and the patches of each item that it encodes
        self._due = float("inf")  # when the step in progress, or the run of decode steps, ends
        self._run_until = 0  # the step count at which the run ends
        self._batch = 0  # sequences that decode in the step in progress

    # --- what the driver does

    @property
    def due(self) -> float:
        """When something happens here next; infinity while idle."""
        return self._due

    def submit(self, job: Job, now: float) -> None:
        """Take a job; it enters with the next step."""
        self._catch_up(now)
        self.waiting.append(job)
        if not self._busy:
            self._at = now
            self._plan()
        elif not self._chunks:
            self._cut_short()

    def cancel(self, job: Job, now: float) -> None:
        """The client has gone: its sequence ends with the step in progress."""
        self._catch_up(now)
        if job in self.waiting:
            self.waiting.remove(job)
            self._partial -= job.computed
            job.gone = True
        elif job in self._running and not job.gone:
            job.gone = True
            self._leaving.append(job)
        if self._busy and not self._chunks:
            self._cut_short()

    def happen(self) -> Happened:
        """The step in progress, or the run of steps, is over: what came of it."""
        self._catch_up(self._due)
        happened = Happened(self._at)
        # Now, as the sequences are at their longest.
        self.prefixes.yield_room(self.capacity_tokens - self._kv - self._partial)
        for job in self._leaving:
            self._leave(job)
        self._leaving.clear()
        while self._finishes and self._finishes[0][0] <= self._step:
            job = heapq.heappop(self._finishes)[2]
            if job in self._running and job.last_step <= self._step:  # else it was preempted meanwhile
                self._leave(job)
                happened.ended.append(job)
        self._prefilled(happened)
        self._plan()
        return happened

    def step(self) -> Step | None:
        """The step in progress, None while idle. Where steps are not coalesced it ends with the next `happen`."""
        if not self._busy:
            return None
        return Step(
            self._at,
            self._due,
            dict(self._chunks),
            {job: sum(patches) for job, patches in self._encoding.items()},
            self._encode_seconds(),
            self.steps.step(0, 0, self._batch, self._kv) if self._batch else 0.0,
            tuple(self._running),
        )

    # --- what a scrape sees

    @property
    def running(self) -> int:
        """Sequences that decode or whose prompt is being computed."""
        return len(self._running) + sum(1 for job in self.waiting if job.computed)

    @property
    def queued(self) -> int:
        """Jobs that nothing has been done for."""
        return sum(1 for job in self.waiting if not job.computed)

    def kv_tokens(self, now: float) -> int:
        """Tokens in the cache, without those that only the prefix cache keeps."""
        self._catch_up(now)
        return self._kv + self._partial

    def written(self, job: Job, now: float) -> int:
        """Output tokens of a job so far."""
        self._catch_up(now)
        return job.written + (self._step - job.joined_step if job.decodes else 0)

    def take_gaps(self) -> list[tuple[float, int]]:
        """Gaps between tokens since the last call, in seconds, and how many sequences felt each."""
        taken, self._gaps = self._gaps, []
        return taken

    def largest_gap(self) -> float:
        """The largest gap between tokens since the last call, in seconds."""
        largest, self._largest_gap = self._largest_gap, 0.0
        return largest

    def slow_down(self, factor: float, now: float) -> None:
        """From the next step on everything takes `factor` times as long as before."""
        self._catch_up(now)
        self._slower = self.steps.slowed(factor)
        if self._busy and not self._chunks:
            self._cut_short()

    # --- a step

    def _plan(self) -> None:
        """Begin the next step, or a run of steps that only decode."""
        if self._slower is not None:
            self.steps, self._slower = self._slower, None
        self._chunks = []
        self._encoding = {}
        self._batch = len(self._running)
        if not self._running and not self.waiting:
            self._busy, self._due = False, float("inf")
            return
        self._busy = True
        if self.settings.preemption:
            self._make_room()
        self._batch = len(self._running)
        encode = self._schedule() if self.waiting else 0.0
        if self._chunks:
            self._due = self._at + self._mixed_seconds() + encode
            self._run_until = self._step + 1
        else:
            self._plan_run()

    def _plan_run(self) -> None:
        """Decode until a sequence ends, or the cache is full: nothing that waits now can enter before."""
        count = self._finishes[0][0] - self._step
        if not self.settings.coalesce:
            count = 1
        if self.settings.preemption:
            count = min(count, self._blocks.steps_until(self._step, self._free_blocks()))
        self._run_until = self._step + max(1, count)
        self._costs = self.steps.decode(self._batch)
        self._due = self._after(self._run_until)

    def _after(self, step: int) -> float:
        """When the run gets to `step`."""
        fixed, token = self._costs
        at, kv = self._at, self._kv
        for _ in range(step - self._step):
            at += fixed + token * kv
            kv += self._batch
        return at

    def _cut_short(self) -> None:
        """A job waits: the run ends with the step in progress. What ended before it has been told."""
        if self._run_until > self._step + 1:
            self._run_until = self._step + 1
            self._due = self._after(self._run_until)

    def _catch_up(self, now: float) -> None:
        """Let the steps of a run that are over by `now` be over. A step with a prefill is over only by `happen`."""
        if not self._busy or now <= self._at:
            return
        if self._chunks:
            if now >= self._due:
                self._advance(self._due)
            return
        fixed, token = self._costs
        while self._step < self._run_until:
            ends = self._at + (fixed + token * self._kv)
            if ends > now:
                break
            self._advance(ends)

    def _advance(self, ends: float) -> None:
        """A step is over: each sequence that decoded is a token longer."""
        gap, batch = ends - self._at, self._batch
        if batch:
            self._gaps.append((gap, batch))
            self._largest_gap = max(self._largest_gap, gap)
        self._at = ends
        self._step += 1
        self._kv += batch
        self._blocks.advance(self._step)

    def _mixed_seconds(self) -> float:
        prefill = sum(count for _, count in self._chunks)
        attended = sum(count * (job.computed + count) for job, count in self._chunks)
        return self.steps.step(prefill, attended, self._batch, self._kv)

    # --- who enters

    def _schedule(self) -> float:
        """Fill the step with chunks of waiting prompts, in order. The seconds that their media take to encode."""
        budget = self.settings.token_budget - self._batch
        for job in self.waiting:
            if budget <= 0 or len(self._running) + len(self._chunks) >= self.settings.max_sequences:
                break
            if not self._fits(job):
                break
            if not job.encoded:
                if not self._has_encoder_room(job):
                    break
                self._encoding[job] = self._to_encode(job)
                job.encoded = True
            if not job.computed:
                self._reuse(job)
            count = min(budget, job.needed - job.computed)
            self._chunks.append((job, count))
            budget -= count
        return self._encode_seconds()

    def _has_encoder_room(self, job: Job) -> bool:
        patches = sum(map(sum, self._encoding.values()))
        return not patches or patches + sum(job.patches) <= self.settings.encoder_budget_patches

    def _encode_seconds(self) -> float:
        return self.steps.encode(itertools.chain.from_iterable(self._encoding.values()))

    def _fits(self, job: Job) -> bool:
        if not self.settings.preemption:
            return self._kv + self._partial + job.needed <= self.capacity_tokens or not (
                self._running or self._chunks
            )
        wanted = -(-(job.needed - job.computed) // self.settings.block_tokens)
        return wanted <= self._free_blocks() or not (self._running or self._chunks)

    def _to_encode(self, job: Job) -> list[int]:
        """Patches of the items that are not in the encoder cache, which they enter."""
        missing = []
        for number, patches in enumerate(job.patches):
            key = job.media[number] if number < len(job.media) else None
            if key is None or key not in self.encoder_cache:
                missing.append(patches)
            if key is not None:
                self.encoder_cache.put(key, 1)
        return missing

    def _reuse(self, job: Job) -> None:
        """Take what the prefix cache has; the last token is always computed, as its successor follows from it."""
        job.computed = min(self.prefixes.match(job.prefix, job.ends), job.needed - 1) if job.prefix else 0
        self._partial += job.computed

    def _prefilled(self, happened: Happened) -> None:
        for job, count in self._chunks:
            if job.gone:
                continue
            job.computed += count
            self._partial += count
            if job.computed >= job.needed:
                self.waiting.remove(job)
                self._join(job, happened)

    def _join(self, job: Job, happened: Happened) -> None:
        """Its next token has been written by the step that computed the last of its prompt."""
        if job.prefix:
            self.prefixes.keep(job.prefix, job.ends)
        if not job.written:
            happened.first.append(job)
        job.written += 1
        job.joined_step = self._step
        self._partial -= job.needed
        self._kv += job.needed + 1
        self._running[job] = None
        self._blocks.join(job.needed + 1, self._step)
        left = job.output_tokens - job.written
        if left <= 0:
            self._leave(job)
            happened.ended.append(job)
        else:
            job.last_step = self._step + left
            heapq.heappush(self._finishes, (job.last_step, next(self._numbers), job))

    # --- who leaves

    def _leave(self, job: Job) -> None:
        """It frees what it held."""
        del self._running[job]
        tokens = job.needed + 1 + self._step - job.joined_step
        self._kv -= tokens
        self._blocks.leave(job.needed + 1, job.joined_step, self._step)
        job.written += self._step - job.joined_step
        job.joined_step = -1

    def _free_blocks(self) -> int:
        held = self._blocks.held + -(-self._partial // self.settings.block_tokens)
        return self.capacity_tokens // self.settings.block_tokens - held

    def _make_room(self) -> None:
        """When the next step needs more blocks than there are, the last to come gives its own back, and starts anew later."""
        while len(self._running) > 1 and self._blocks.wanted(self._step) > self._free_blocks():
            last = next(reversed(self._running))
            self._leave(last)
            last.needed = last.prompt_tokens + last.written
            last.computed = 0
            last.preemptions += 1
            self.waiting.appendleft(last)
            self.preemptions += 1
