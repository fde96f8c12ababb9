"""Each of the four clocks of a request, and no other: connecting, first content, silence, all of it."""

import asyncio
import socket
import time

import pytest

from forebay.testing.clock import VirtualClock
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Pause, Reset, ScriptedEngine

from .words import (
    CHUNKED,
    DONE,
    FOR_EVER,
    Client,
    answer,
    chat,
    chunk,
    events,
    eventually,
    piece,
    pool,
    role,
)

ASK = chat(stream=True)


def ok(_request):
    return [answer()]


class Gated(ScriptedEngine):
    """Plays one action for each release of a semaphore."""

    def __init__(self, actions, go):
        super().__init__(lambda _: actions)
        self.go = go

    async def _play(self, actions, reader, writer):
        for action in actions:
            await self.go.acquire()
            writer.write(action)
            await writer.drain()
        return True


class TestP21FourClocks:
    """Time is virtual: it moves when told to, and deadlines are looked at when told to."""

    async def drive(self, gateway, clock, seconds):
        """Let so much time pass, looked at once a second."""
        for _ in range(seconds):
            clock.advance(seconds=1)
            gateway.station.gateway.sweep()
            await asyncio.sleep(0)

    async def test_p21_a_a_stream_that_moves_may_last(self):
        clock, go = VirtualClock(1_000_000), asyncio.Semaphore(0)
        words = [chunk(content=f"{n} ") for n in range(180)]
        async with (
            Gated(
                [CHUNKED, *(piece(word) for word in words), piece(chunk(finish="stop") + DONE), b"0\r\n\r\n"],
                go,
            ) as e,
            LiveGateway(pools=pool(e), clock=clock) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK, headers="x-request-id: a\r\n")
            go.release()
            for number in range(180):
                go.release()
                await client.until(f'"{number} "'.encode())
                await self.drive(gateway, clock, 5)  # 900 s in all
            go.release()
            go.release()
            await client.until(b"0\r\n\r\n")
            await gateway.settled()
            outcome = (await gateway.story("a"))["outcome"]
            assert (outcome["ending"], outcome["completion_tokens"]) == ("finished", 180)
            assert outcome["e2e_ms"] == 900_000

    async def test_p21_b_silence_after_content_ends_with_an_error_event(self):
        clock = VirtualClock(1_000_000)
        script = [CHUNKED, piece(role() + chunk(content="x") * 10), FOR_EVER]
        async with (
            ScriptedEngine(lambda _: script) as engine,
            ScriptedEngine(lambda _: script) as other,
            LiveGateway(pools=pool(engine, other, timeouts={"idle_seconds": 20}), clock=clock) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK, headers="x-request-id: b\r\n")
            await client.until(b"x")
            await self.drive(gateway, clock, 20)
            assert gateway.in_flight() == 1
            await self.drive(gateway, clock, 1)
            error = events(await client.until(b"0\r\n\r\n"))[-1]["error"]
            assert error["code"] == "engine_idle_timeout"
            await gateway.settled()
            assert len(engine.received) + len(other.received) == 1
            assert (await gateway.story("b"))["outcome"]["reason"] == "idle-timeout"

    @pytest.mark.parametrize("streamed", [True, False])
    async def test_p21_c_no_first_content_is_tried_elsewhere_and_then_a_504(self, streamed):
        clock = VirtualClock(1_000_000)
        script = [CHUNKED, piece(role()), FOR_EVER] if streamed else [FOR_EVER]
        async with (
            ScriptedEngine(lambda _: script) as engine,
            ScriptedEngine(lambda _: script) as other,
            LiveGateway(
                pools=pool(engine, other, timeouts={"first_content_seconds": 30}), clock=clock
            ) as gateway,
        ):
            asked = asyncio.create_task(gateway.post(chat(stream=streamed)))
            for tries in (1, 2):
                await eventually(lambda n=tries: len(engine.received) + len(other.received) == n)
                await asyncio.sleep(0.02)
                await self.drive(gateway, clock, 31)
            got = await asked
            assert (got.status, got.error()["code"]) == (504, "engine_first_content_timeout")
            assert got.headers["x-forebay-attempts"] == "2"
            assert (len(engine.received), len(other.received)) == (1, 1)
            await gateway.settled()

    async def test_an_engine_that_hangs_is_given_up_for_one_that_answers(self):
        clock = VirtualClock(1_000_000)
        async with (
            ScriptedEngine(lambda _: [FOR_EVER]) as hanging,
            ScriptedEngine(ok) as good,
            LiveGateway(
                pools=pool(hanging, good, profile="round-robin", timeouts={"first_content_seconds": 5}),
                clock=clock,
            ) as gateway,
        ):
            asked = [asyncio.create_task(gateway.post(chat())) for _ in range(4)]
            await eventually(lambda: len(hanging.received) + len(good.received) == 4)
            await self.drive(gateway, clock, 6)
            assert {(await one).status for one in asked} == {200}
            assert len(hanging.received) == 2
            await gateway.settled()

    async def test_p21_d_the_wall_clock_is_of_no_account(self, monkeypatch):
        end = [piece(chunk(finish="stop") + DONE), b"0\r\n\r\n"]
        script = [CHUNKED, piece(role() + chunk(content="x")), Pause(0.3), *end]
        async with (
            ScriptedEngine(lambda _: script) as engine,
            LiveGateway(pools=pool(engine, timeouts={"idle_seconds": 60})) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK, headers="x-request-id: d\r\n")
            await client.until(b"x")
            real = time.time
            monkeypatch.setattr(time, "time", lambda: real() - 3600)
            await client.until(b"0\r\n\r\n")  # the sweep has looked at it meanwhile
            await gateway.settled()
            assert 300 <= (await gateway.story("d"))["outcome"]["e2e_ms"] < 3000
            metrics = (await gateway.get("/metrics", admin=True)).body.decode()
            sums = [
                float(line.split()[-1]) for line in metrics.splitlines() if "_sum" in line and line[0] != "#"
            ]
            assert sums
            assert min(sums) >= 0

    async def test_the_total_is_off_unless_it_is_set(self):
        clock = VirtualClock(1_000_000)
        script = [CHUNKED, piece(role() + chunk(content="x")), FOR_EVER]
        timeouts = {"total_seconds": 40, "idle_seconds": 1000}
        async with (
            ScriptedEngine(lambda _: script) as engine,
            LiveGateway(pools=pool(engine, timeouts=timeouts), clock=clock) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK)
            await client.until(b"x")
            await self.drive(gateway, clock, 41)
            assert b"engine_total_timeout" in await client.until(b"0\r\n\r\n")
            await gateway.settled()

    async def test_each_pool_has_its_own_patience_for_a_connection(self):
        """A full backlog lets no further connection in, and says nothing."""
        clock = VirtualClock(1_000_000)
        with socket.socket() as deaf, socket.socket() as first, socket.socket() as second:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            for sock in (first, second):
                sock.setblocking(False)
                sock.connect_ex(deaf.getsockname())
            async with ScriptedEngine(ok, model="patient") as engine:
                endpoint = {"url": url, "engine": "vllm"}
                pools = [
                    {
                        "model": "m",
                        "endpoints": [endpoint],
                        "timeouts": {"connect_seconds": 2},
                        "retry": {"max_retries": 0},
                    },
                    pool(engine, model="patient", timeouts={"connect_seconds": 60})[0],
                ]
                async with LiveGateway(pools=pools, clock=clock) as gateway:
                    asked = asyncio.create_task(gateway.post(chat()))
                    await eventually(lambda: gateway.in_flight() == 1)
                    await self.drive(gateway, clock, 3)
                    got = await asked
                    assert (got.status, got.error()["code"]) == (503, "engine_connect")
                    await gateway.settled()

    async def test_a_stale_connection_starts_the_clock_for_the_next_one(self, monkeypatch):
        clock = VirtualClock(1_000_000)
        scripts = [[answer()], [Reset()]]

        async def never(*_):
            await asyncio.sleep(60)

        more = {"timeouts": {"connect_seconds": 2}, "retry": {"max_retries": 0}}
        async with (
            ScriptedEngine(lambda _: scripts.pop(0)) as engine,
            LiveGateway(pools=pool(engine, **more), clock=clock) as gateway,
        ):
            assert (await gateway.post(chat())).status == 200
            monkeypatch.setattr("forebay.gateway.http1.upstream.open_connection", never)
            asked = asyncio.create_task(gateway.post(chat()))
            await eventually(lambda: not scripts)
            (exchange,) = gateway.station.gateway.exchanges.values()
            await eventually(lambda: not exchange.connected)
            await self.drive(gateway, clock, 2)
            assert gateway.in_flight() == 1
            await self.drive(gateway, clock, 1)
            got = await asked
            assert (got.status, got.error()["code"]) == (503, "engine_connect")
            await gateway.settled()
