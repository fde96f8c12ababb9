"""An endpoint of the modelled fleet: an engine, the attempts that run on it, and what a scrape would tell of it."""

import math
from collections.abc import Sequence

from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.outcome import Attempt
from forebay.simulator.engine.engine import Engine, Happened
from forebay.simulator.engine.job import Job
from forebay.simulator.visits import Visit

MICROSECONDS = 1e6
GAP_SHARE = 0.95


class Run:
    """One attempt at one engine, as the driver must follow it."""

    __slots__ = ("attempt", "gateway", "gone", "job", "number", "streams", "visit")

    def __init__(self, gateway: int, attempt: Attempt, number: int, visit: Visit) -> None:
        """`number` is the visit's; `gateway` sent it."""
        self.gateway = gateway
        self.attempt = attempt
        self.number = number
        self.visit = visit
        self.streams = False  # its first token has reached the gateway
        self.gone = False  # its connection has: nothing of it arrives any more
        request = visit.request
        blocks, ends = request.prefix_blocks, request.prefix_tokens
        if visit.blocks is not None:
            blocks, ends = visit.blocks, visit.block_ends
        self.job = Job(
            self,
            visit.prompt_tokens,
            visit.output_tokens,
            visit.patches,
            [item.content_hash for item in request.media],
            blocks,
            ends,
        )


class Replica:
    """Mutable. `alive` is False once it is lost, or before it joins: it then answers nothing."""

    def __init__(self, endpoint: Endpoint, engine: Engine, models: Sequence[str]) -> None:
        """Serve `models` by `engine`, as the plan declares in `endpoint`."""
        self.endpoint = endpoint
        self.engine = engine
        self.alive = True
        self.runs: dict[Attempt, Run] = {}
        self._models = tuple(models)
        self._gaps: list[tuple[float, int]] = []
        self._older: list[tuple[float, int]] = []

    def take(self, run: Run, now: float) -> None:
        """An attempt arrives."""
        self.runs[run.attempt] = run
        self.engine.submit(run.job, now)

    def drop(self, attempt: Attempt, now: float) -> None:
        """Its connection is closed."""
        run = self.runs.pop(attempt, None)
        if run is not None:
            run.gone = True
            self.engine.cancel(run.job, now)

    def happen(self) -> Happened:
        """Let the engine's step be over. Attempts that ended are forgotten here; the driver tells the gateway."""
        happened = self.engine.happen()
        for job in happened.ended:
            run = job.key
            assert isinstance(run, Run)
            self.runs.pop(run.attempt, None)
        return happened

    def lose(self) -> list[Run]:
        """Its process dies: what ran there, all of which is lost."""
        self.alive = False
        lost = list(self.runs.values())
        for run in lost:
            run.gone = True
        self.runs.clear()
        return lost

    def kv_usage(self, now: float) -> float:
        """Share of its KV cache that is in use, 0..1 but for engines that overfill it; NaN while it is not alive."""
        return self.engine.kv_tokens(now) / self.engine.capacity_tokens if self.alive else math.nan

    def view(self, now: float) -> EndpointView:
        """What the eyes see. A lost one is not reachable, and of that alone one can be sure."""
        slot = self.endpoint.slot
        if not self.alive:
            return EndpointView(slot, reachable=False)
        engine = self.engine
        usage = min(1.0, self.kv_usage(now))
        return EndpointView(
            slot,
            reachable=True,
            engine="vllm",
            models=self._models,
            running=float(engine.running),
            waiting=float(engine.queued),
            kv_usage=usage,
            kv_usage_mean=usage,
            kv_capacity_tokens=engine.capacity_tokens,
            gap_p95_us=self._gap_p95_us(),
        )

    def _gap_p95_us(self) -> float | None:
        """Of the gaps that streams saw here since the scrape before the last, None when there were none."""
        recent = self.engine.take_gaps()
        self._older, self._gaps = self._gaps, recent
        gaps = sorted(self._older + recent)
        left = (1 - GAP_SHARE) * sum(streams for _, streams in gaps)
        for gap, streams in reversed(gaps):
            left -= streams
            if left <= 0:
                return gap * MICROSECONDS
        return None
