"""The load generator: a process that reads jobs from its standard input and writes what it saw, one JSON line each.

Run as `python -m forebay.testing.bench.client`. For each job it opens its connections and writes `{"ready": true}`; at the
next line it sends the load and writes the `Result`. A job with `hold` then keeps its streams open until one more line.
"""

import asyncio
import gc
import itertools
import random
import sys
import time
from collections.abc import Awaitable, Callable

import msgspec
import uvloop

from forebay.testing.bench import payloads
from forebay.testing.bench.connection import Answer, Connection, dial
from forebay.testing.bench.jobs import Job, Load, Result
from forebay.testing.bench.verdict import Want

_DIALS_AT_ONCE = 64
_SEED = 20_240_601


class Request:
    """One prepared request and the answer that it must get."""

    def __init__(self, body: bytes, chunks: int) -> None:
        """`chunks` as in `Want`."""
        self.body = body
        self.want = Want(body, chunks=chunks)
        self.head = (
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n"
            b"content-type: application/json\r\nuser-agent: forebay-bench\r\ncontent-length: %d\r\n\r\n"
            % len(body)
        )


def prepare(load: Load) -> list[Request]:
    """The different requests of a load: the same ones in every process and round."""
    rng = random.Random(f"{_SEED}-{load.kind}-{load.size}")
    if load.kind == "image":
        return [Request(payloads.image_body(load.size, rng), 0) for _ in range(load.variants)]
    if load.kind == "text":
        return [Request(payloads.text_body(load.size, rng), 0) for _ in range(load.variants)]
    fields = {
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": load.chunks,
        "seed": load.interval_us,
    }
    return [Request(payloads.text_body(load.size, rng, **fields), load.chunks) for _ in range(load.variants)]


class LoadRun:
    """One job under way."""

    def __init__(self, job: Job) -> None:
        """Prepare the requests; nothing is opened yet."""
        self._job = job
        self._load = job.load
        self._requests = itertools.cycle(prepare(job.load))
        self._numbers = itertools.count()
        self._connections: list[Connection] = []
        self.result = Result()

    async def open(self) -> None:
        """Open the connections that the job starts with."""
        if self._job.hold:
            return
        for number in range(self._load.connections):
            self._connections.append(await self._dial(number))

    async def run(self) -> Result:
        """Send the whole load. What has not been answered within the job's limit counts as wrong."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._job.limit_seconds):
                await self._send_all()
        except TimeoutError:
            missing = self._load.requests - self.result.done - self.result.wrong
            self._wrong(f"{missing} answers had not come after {self._job.limit_seconds:g} s")
            self.result.wrong += missing - 1
        self.result.wall_seconds = time.perf_counter() - began
        return self.result

    async def _send_all(self) -> None:
        if self._job.hold:
            await self._hold_all()
        elif self._load.rate > 0:
            await self._open_loop()
        else:
            await asyncio.gather(*map(self._closed_loop, range(len(self._connections))))

    async def close(self) -> None:
        """Hang up everywhere."""
        for connection in self._connections:
            connection.close()
        await asyncio.sleep(0)

    async def _dial(self, number: int) -> Connection:
        return await dial(self._job.ports[number % len(self._job.ports)])

    async def _closed_loop(self, slot: int) -> None:
        while next(self._numbers) < self._load.requests:
            if not self._connections[slot].open:
                self.result.reconnects += 1
                self._connections[slot] = await self._dial(slot)
            await self._exchange(self._connections[slot])

    async def _exchange(self, connection: Connection) -> None:
        request = next(self._requests)
        try:
            answer = await connection.send(request.head, request.body)
        except ConnectionError as error:
            self._wrong(str(error))
        else:
            self._note(request, answer)

    def _note(self, request: Request, answer: Answer) -> None:
        verdict = request.want.judge(answer.status, answer.body)
        if verdict.finding == "wrong":
            self._wrong(verdict.why)
            return
        self.result.done += 1
        self.result.request_rewritten += verdict.request_rewritten
        self.result.answer_rewritten += verdict.finding == "answer-rewritten"

    def _wrong(self, why: str) -> None:
        self.result.wrong += 1
        self.result.first_wrong = self.result.first_wrong or why

    async def _open_loop(self) -> None:
        """Requests leave when they are due, whatever became of those before: a slow answer delays nobody's start."""
        rng = random.Random(_SEED)
        due = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(self._load.requests):
                due += rng.expovariate(self._load.rate)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                group.create_task(self._timed_exchange(number))

    async def _timed_exchange(self, number: int) -> None:
        connection = self._connections.pop() if self._connections else await self._dial(number)
        if not connection.open:
            self.result.reconnects += 1
            connection = await self._dial(number)
        sent = time.perf_counter()
        await self._exchange(connection)
        self.result.latencies_us.append(round((time.perf_counter() - sent) * 1e6))
        self._connections.append(connection)

    async def _hold_all(self) -> None:
        """Open every stream up to its first bytes, a few at a time, and leave all of them open."""
        await asyncio.gather(*(self._hold_some() for _ in range(_DIALS_AT_ONCE)))

    async def _hold_some(self) -> None:
        while (number := next(self._numbers)) < self._load.requests:
            request = next(self._requests)
            try:
                connection = await self._dial(number)
                self._connections.append(connection)
                connection.send(request.head, request.body)
                assert connection.started is not None
                await connection.started
            except OSError as error:
                self._wrong(str(error))
            else:
                self.result.done += 1


async def perform(job: Job, tell: Callable[[bytes], None], hear: Callable[[], Awaitable[object]]) -> None:
    """Do one job, in the steps that the module's docstring gives."""
    run = LoadRun(job)
    await run.open()
    tell(b'{"ready":true}')
    await hear()
    result = await run.run()
    tell(msgspec.json.encode(result))
    if job.hold:
        await hear()
    await run.close()


def main() -> int:
    """Read jobs until the standard input ends."""

    def tell(line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    async def hear() -> bytes:
        return await asyncio.to_thread(sys.stdin.buffer.readline)

    gc.disable()  # a collection amid a job would show up as latency of the router
    for line in iter(sys.stdin.buffer.readline, b""):
        uvloop.run(perform(msgspec.json.decode(line, type=Job), tell, hear))
        gc.collect()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
