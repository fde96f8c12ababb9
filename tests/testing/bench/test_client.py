"""The load generator: every loop, every check."""

import asyncio

import msgspec
import pytest

from forebay.testing.bench.client import LoadRun, perform
from forebay.testing.bench.connection import dial
from forebay.testing.bench.jobs import Job, Load, Result

from .conftest import pass_through


async def play(job):
    run = LoadRun(job)
    await run.open()
    result = await run.run()
    await run.close()
    await asyncio.sleep(0.02)
    return result


@pytest.mark.parametrize(
    "load",
    [
        Load("text", 40, 4),
        Load("image", 6, 2, size=16),
        Load("stream", 6, 3, chunks=4),
        Load("stream", 4, 2, chunks=3, interval_us=2000),
        Load("text", 20, 2, rate=2000.0),
        Load("text", 20, 0, rate=2000.0),
    ],
)
async def test_all_answers_are_right_through_a_faithful_router(engine_port, load):
    async with pass_through(engine_port) as port:
        result = await play(Job(load, [port]))
    assert (result.done, result.wrong, result.first_wrong) == (load.requests, 0, "")
    assert (result.request_rewritten, result.answer_rewritten) == (0, 0)
    assert len(result.latencies_us) == (load.requests if load.rate else 0)
    assert result.wall_seconds > 0


async def test_a_router_that_changes_one_byte_is_found(engine_port):
    async with pass_through(engine_port, lambda data: data.replace(b" t1", b" t7")) as port:
        result = await play(Job(Load("stream", 4, 2, chunks=3), [port]))
    assert (result.done, result.wrong) == (0, 4)
    assert "[DONE]" in result.first_wrong


async def test_a_router_that_breaks_http_is_found(engine_port):
    async with pass_through(engine_port, lambda data: data.replace(b"HTTP/1.1", b"HTTQ/1.1")) as port:
        result = await play(Job(Load("text", 3, 1), [port]))
    assert (result.done, result.wrong) == (0, 3)
    assert result.first_wrong.startswith("not HTTP")


async def test_a_connection_closed_after_its_answer_is_opened_again(engine_port):
    async with pass_through(
        engine_port, lambda data: data.replace(b"server: ", b"connection: close\r\nx: ")
    ) as port:
        result = await play(Job(Load("text", 5, 1), [port]))
        # So many that a machine which stalls for a while still has some come one after the other.
        timed = await play(Job(Load("text", 60, 1, rate=150.0), [port]))
    assert (result.done, result.wrong, result.reconnects) == (5, 0, 4)
    assert (timed.done, timed.wrong) == (60, 0)
    assert timed.reconnects > 0


async def test_held_streams_stay_open_until_released(engine_port):
    job = Job(Load("stream", 70, 0, chunks=2, interval_us=60_000_000), [engine_port], hold=True)
    lines = asyncio.Queue()
    released = asyncio.Event()
    heard = iter((asyncio.sleep(0), released.wait()))
    task = asyncio.create_task(perform(job, lines.put_nowait, lambda: next(heard)))
    assert await lines.get() == b'{"ready":true}'
    result = msgspec.json.decode(await lines.get(), type=Result)
    assert not task.done()
    assert (result.done, result.wrong) == (70, 0)
    released.set()
    await task
    await asyncio.sleep(0.02)


async def test_held_streams_that_cannot_open_are_wrong():
    async with pass_through(1) as gone:
        pass
    result = await play(Job(Load("stream", 3, 0, chunks=2), [gone], hold=True))
    assert (result.done, result.wrong) == (0, 3)


async def test_sending_on_a_closed_connection_fails_at_once(engine_port):
    connection = await dial(engine_port)
    connection.close()
    await asyncio.sleep(0.01)
    assert not connection.open
    with pytest.raises(ConnectionError):
        await connection.send(b"", b"")


async def test_answers_that_never_come_are_wrong(engine_port):
    async with pass_through(engine_port, lambda _data: b"") as port:
        result = await play(Job(Load("text", 5, 2), [port], limit_seconds=0.1))
    assert (result.done, result.wrong) == (0, 5)
    assert result.first_wrong == "5 answers had not come after 0.1 s"
