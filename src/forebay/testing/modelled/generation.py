"""Requests on their way through a modelled engine: from their sizes to pieces of text, each at its time."""

import asyncio
from collections.abc import AsyncGenerator

from forebay.simulator.engine.engine import Engine, Happened, Step
from forebay.simulator.engine.job import Job
from forebay.simulator.world import Overheads
from forebay.testing.modelled.metrics import Metrics
from forebay.testing.modelled.pace import Pace
from forebay.testing.modelled.reading import Asked
from forebay.testing.modelled.truth import Truth, Truths, truth_of


class _Output:
    """Tells whoever waits for an answer how far it has come, every `chunk_tokens` after the first token."""

    def __init__(self, chunk_tokens: int) -> None:
        self.told: asyncio.Queue[tuple[float, int]] = asyncio.Queue()
        self._chunk = chunk_tokens
        self._next = 1

    def written(self, at: float, tokens: int, *, ended: bool) -> None:
        """So many tokens are written at this moment of the engine's time."""
        if tokens >= self._next or ended:
            self._next = tokens + self._chunk
            self.told.put_nowait((at, tokens))


class Generation:
    """Must be made inside a running loop. `pace`, `truths` and `metrics` are to be read."""

    def __init__(
        self, model: str, engine: Engine, speed: float, overheads: Overheads, chunk_tokens: int
    ) -> None:
        """As ModelledEngine has it."""
        self.pace = Pace(engine, speed, self._heard)
        self.truths = Truths(self.pace.clock)
        self.metrics = Metrics(model, self.pace)
        self._overheads = overheads
        self._chunk_tokens = chunk_tokens
        self._outputs: dict[Job, _Output] = {}

    def close(self) -> None:
        """Let no more happen."""
        self.pace.close()

    async def pieces(self, asked: Asked, request_id: str) -> AsyncGenerator[int, None]:
        """The tokens of each piece of the answer, when the client may have it. Closed early, the engine drops the request."""
        job = self._job(asked, request_id)
        output = self._outputs[job] = _Output(self._chunk_tokens)
        written, at = 0, self.pace.submit(job)
        truth_of(job).arrived = self.pace.clock(at)
        try:
            while written < job.output_tokens:
                at, tokens = await output.told.get()
                await self.pace.until(at + self._api_seconds(tokens))
                yield tokens - written
                written = tokens
            await self.pace.until(at + self._api_seconds(written) + self._overheads.request)
        finally:
            if self._outputs.pop(job, None) is not None:
                self.pace.cancel(job)
                self.truths.left(job)

    def _job(self, asked: Asked, request_id: str) -> Job:
        request = asked.request
        truth = Truth(request_id, -1.0, asked.prompt_tokens, asked.output_tokens, sum(asked.patches))
        return Job(
            truth,
            asked.prompt_tokens,
            asked.output_tokens,
            asked.patches,
            [item.content_hash for item in request.media],
            request.prefix_blocks,
            request.prefix_tokens,
        )

    def _api_seconds(self, tokens: int) -> float:
        return self._overheads.first_token + self._overheads.output_token * tokens

    def _heard(self, step: Step, happened: Happened) -> None:
        self.truths.heard(step, happened)
        self.metrics.heard(step, happened)
        ended = set(happened.ended)
        for job in dict.fromkeys((*happened.first, *step.decoding, *happened.ended)):
            output = self._outputs.get(job)
            if output is not None:
                tokens = self.pace.engine.written(job, happened.at)
                output.written(happened.at, tokens, ended=job in ended)
        for job in ended:
            self._outputs.pop(job, None)
