"""What a client may not do, seen through the whole gateway, and room that is given back."""

import asyncio
import gzip
import json

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Pause, ScriptedEngine, reply

from .words import CHAT, CHUNKED, FOR_EVER, Client, answer, chat, chunk, eventually, piece, role

MIB = 1024 * 1024


def ok(_request):
    return [answer()]


def held_bytes(gateway):
    """Bytes that the gateway counts as held in bodies."""
    return gateway.station._public.budget.used_bytes


def big(size, **more):
    return json.dumps(chat("x" * size, **more)).encode()


SMUGGLERS = {
    "te-and-cl": "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
    "two-lengths": "content-length: 5\r\ncontent-length: 5\r\n",
    "folded": "content-length: 0\r\nx-a: 1\r\n 2\r\n",
    "bare-lf": "content-length: 0\r\nx-a: 1\nx-b: 2\r\n",
}


@pytest.mark.parametrize("name", SMUGGLERS)
async def test_ambiguous_requests_are_refused_in_the_apis_shape_and_logged(name):
    async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
        async with Client.of(gateway.url) as client:
            client.writer.write(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\n{SMUGGLERS[name]}\r\n0\r\n\r\n".encode())
            head, body = await client.whole()
            assert head.startswith(b"HTTP/1.1 400 ")
            assert b"connection: close" in head.lower()
            assert json.loads(body)["error"]["type"] == "invalid_request_error"
        assert engine.received == []
    (line,) = gateway.lines()
    assert (line["status"], line["ending"]) == (400, "refused")


async def test_heads_have_limits():
    async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
        for headers, status in (
            ("x-long: " + "y" * 33 * 1024 + "\r\n", 431),
            ("".join(f"x-{n}: 1\r\n" for n in range(101)), 431),
        ):
            async with Client.of(gateway.url) as client:
                client.ask(chat(), headers=headers)
                assert (await client.whole())[0].startswith(f"HTTP/1.1 {status} ".encode())
        async with Client.of(gateway.url) as client:
            client.ask(chat(), path="/" + "a" * 9000)
            assert (await client.whole())[0].startswith(b"HTTP/1.1 414 ")
        assert engine.received == []


async def test_a_head_that_does_not_come_is_not_waited_for():
    limits = {"head_timeout_seconds": 0.1, "sweep_seconds": 0.02}
    async with (
        LiveGateway(["http://127.0.0.1:9"], inbound=limits) as gateway,
        Client.of(gateway.url) as client,
    ):
        client.writer.write(b"POST / HTTP/1.1\r\nhost:")
        assert (await client.whole())[0].startswith(b"HTTP/1.1 408 ")


async def test_connections_of_one_address_are_bounded():
    limits = {"max_connections_per_address": 2}
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway([engine.url], inbound=limits) as gateway,
        Client.of(gateway.url) as one,
        Client.of(gateway.url) as two,
        Client.of(gateway.url) as three,
    ):
        assert (await three.whole())[0].startswith(b"HTTP/1.1 503 ")
        for client in (one, two):
            client.ask(chat())
            assert (await client.whole())[0].startswith(b"HTTP/1.1 200 ")


class Held(ScriptedEngine):
    """Answers when told to."""

    def __init__(self, go):
        super().__init__(ok)
        self.go = go

    async def _play(self, actions, reader, writer):
        await self.go.wait()
        return await super()._play(actions, reader, writer)


class TestRoom:
    async def test_a_body_is_held_until_its_first_content_and_no_longer(self):
        go = asyncio.Event()
        script = [CHUNKED, piece(role()), Pause(0.05), piece(chunk(content="x")), FOR_EVER]
        async with (
            ScriptedEngine(lambda _: go.set() or script) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(big(MIB, stream=True))
            await go.wait()
            assert held_bytes(gateway) > MIB  # for a second attempt
            await client.until(b'"x"')
            assert held_bytes(gateway) == 0
            client.leave()
            await gateway.settled()

    async def test_above_the_bound_reading_pauses_and_goes_on_when_there_is_room(self):
        limits = {"max_buffered_bytes": 4 * MIB}
        go = asyncio.Event()
        async with Held(go) as engine, LiveGateway([engine.url], inbound=limits) as gateway:
            first = [asyncio.create_task(gateway.post(big(2 * MIB - 1000))) for _ in range(2)]
            await eventually(lambda: engine.busy == 2)
            later = [asyncio.create_task(gateway.post(big(2 * MIB))) for _ in range(2)]
            await eventually(lambda: gateway.station._public.budget.waiting == 2)
            assert held_bytes(gateway) < 5 * MIB
            assert (await gateway.get("/health")).status == 200
            go.set()
            assert {(await task).status for task in (*first, *later)} == {200}
            await gateway.settled()
            assert held_bytes(gateway) == 0

    async def test_uploads_that_together_fill_the_room_do_not_wait_for_each_other(self):
        limits = {"max_buffered_bytes": 4 * MIB}
        async with (
            ScriptedEngine(lambda _: [Pause(0.01), answer()]) as engine,
            LiveGateway([engine.url], inbound=limits) as gateway,
        ):
            peak = 0

            async def watch():
                nonlocal peak
                while True:
                    peak = max(peak, held_bytes(gateway))
                    await asyncio.sleep(0.001)

            watching = asyncio.create_task(watch())
            got = await asyncio.gather(*(gateway.post(big(2 * MIB)) for _ in range(12)))
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            assert {reply.status for reply in got} == {200}
            # The room, one body, and one read of each connection; not all 24.
            assert 4 * MIB <= peak < 12 * MIB
            await gateway.settled()
            assert held_bytes(gateway) == 0

    async def test_what_a_compressed_body_becomes_counts_too(self):
        limits = {"max_buffered_bytes": 3 * MIB}
        packed, headers = gzip.compress(big(2 * MIB), mtime=0), {"content-encoding": "gzip"}
        go = asyncio.Event()
        async with Held(go) as engine, LiveGateway([engine.url], inbound=limits) as gateway:
            first = asyncio.create_task(gateway.post(packed, headers=headers))
            await eventually(lambda: engine.busy)
            assert 2 * MIB < held_bytes(gateway) < 3 * MIB
            refused = await gateway.post(packed, headers=headers)
            assert (refused.status, refused.error()["code"]) == (503, "buffers_full")
            go.set()
            assert (await first).status == 200
            await gateway.settled()
            assert held_bytes(gateway) == 0
            assert (await gateway.post(packed, headers=headers)).status == 200

    @pytest.mark.parametrize("end", ["refused", "unknown-model", "left", "left-early", "engine-down"])
    async def test_room_is_given_back_however_it_ends(self, end):
        async with ScriptedEngine(lambda _: [FOR_EVER]) as engine:
            url = engine.url if end.startswith("left") else "http://127.0.0.1:9"
            async with LiveGateway([url]) as gateway, Client.of(gateway.url) as client:
                body = big(MIB, model="nope") if end == "unknown-model" else big(MIB)
                if end == "left-early":
                    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
                    client.writer.write(head.encode() + body[: MIB // 2])
                    await eventually(lambda: held_bytes(gateway) >= MIB // 2)
                    client.leave()
                elif end == "left":
                    client.ask(body)
                    await eventually(lambda: engine.busy)
                    client.leave()
                else:
                    client.ask(b"[" + body if end == "refused" else body)
                    await client.whole()
                await eventually(lambda: held_bytes(gateway) == 0)
                await gateway.settled()


async def test_a_client_that_pipelines_has_one_request_in_flight():
    async with (
        ScriptedEngine(lambda _: [Pause(0.02), answer()]) as engine,
        LiveGateway([engine.url]) as gateway,
        Client.of(gateway.url) as client,
    ):
        for _ in range(5):
            client.ask(chat())
        for _ in range(5):
            await eventually(lambda: engine.busy)
            assert gateway.in_flight() <= 1
            await client.whole()
        await gateway.settled()


async def test_whole_replies_count_in_the_room_and_are_passed_on_when_it_is_short():
    body = b'{"model":"m","choices":[],"pad":"' + b"x" * 300_000 + b'"}'
    async with (
        ScriptedEngine(lambda _: [reply(body)]) as engine,
        LiveGateway([engine.url], inbound={"max_buffered_bytes": 100_000}) as gateway,
    ):
        seen = await gateway.post(chat())
        assert (seen.status, seen.body) == (200, body)
        await gateway.settled()
        assert gateway.station.gateway.budget.used_bytes == 0
