"""What operators see and do, and how the gateway and its endpoints are emptied."""

import asyncio
import contextlib
import os
import re
import signal
import sys

import msgspec
import pytest

from forebay.conductor.events import Woke
from forebay.testing.clock import VirtualClock
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Pause, ScriptedEngine, reply

from .words import (
    CHUNKED,
    DONE,
    FOR_EVER,
    MESSAGES,
    Client,
    answer,
    chat,
    chunk,
    events,
    eventually,
    image,
    parts,
    piece,
    role,
)

ASK = chat(stream=True)


def ok(_request):
    return [answer()]


def pool(*engines, **more):
    return [
        {"model": "m", "endpoints": [{"url": engine.url, "engine": "vllm"} for engine in engines], **more}
    ]


class Streaming(ScriptedEngine):
    """Begins a stream, and ends it when `go` is set."""

    def __init__(self):
        super().__init__(ok)
        self.go = asyncio.Event()

    async def _play(self, actions, reader, writer):
        writer.write(CHUNKED + piece(role() + chunk(content="begun")))
        await self.go.wait()
        writer.write(piece(chunk(content=" ended") + chunk(finish="stop") + DONE) + b"0\r\n\r\n")
        await writer.drain()
        return True


def name_of(engine):
    return engine.url.removeprefix("http://")


class TestPages:
    async def test_decisions_explain_a_request(self):
        png = (
            b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
            + (280).to_bytes(4)
            + (140).to_bytes(4)
            + b"\x08\x02\0\0\0"
            + b"\0" * 8
        )
        async with ScriptedEngine(ok) as one, ScriptedEngine(ok) as two:
            pools = pool(one, two, profile="multimodal", family="qwen2-vl")
            async with LiveGateway(pools=pools) as gateway:
                got = await gateway.post(parts(image(png)), headers={"x-request-id": "why"})
                assert got.status == 200
                story = await gateway.story("why")
                (decision,) = story["decisions"]
                assert decision["profile"] == "multimodal"
                assert decision["chosen"] in {name_of(one), name_of(two)}
                assert {candidate["endpoint"] for candidate in decision["candidates"]} == {
                    name_of(one),
                    name_of(two),
                }
                assert len(decision["candidates"][0]["scores"]) >= 3
                assert story["demand"]["image_tokens"] == 52
                assert story["outcome"]["ending"] == "finished"
                with pytest.raises(KeyError):
                    await gateway.story("never-seen")

    async def test_the_latest_decisions_come_newest_first(self):
        async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
            for number in range(3):
                assert (await gateway.post(chat(), headers={"x-request-id": f"r{number}"})).status == 200
            got = await gateway.get("/forebay/decisions?limit=2", admin=True)
            assert [story["request_id"] for story in got.json()["requests"]] == ["r2", "r1"]
            assert got.json()["requests"][0] == await gateway.story("r2")
            assert len((await gateway.get("/forebay/decisions", admin=True)).json()["requests"]) == 3
            (endpoint,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
            assert endpoint["served"]["finished"] == 3
            for wrong in ("0", "101", "-1", "x", "\u0663", "9" * 99):
                got = await gateway.get(f"/forebay/decisions?limit={wrong}", admin=True)
                assert (got.status, got.error()["code"]) == (400, "invalid_limit")

    async def test_metrics_count_what_was_served(self):
        async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
            for _ in range(3):
                await gateway.post(chat())
            await gateway.post(chat(model="nope"))
            got = await gateway.get("/metrics", admin=True)
            assert got.status == 200
            assert got.headers["content-type"].startswith(("text/plain", "application/openmetrics-text"))
            text = got.body.decode()
            assert re.search(r"^forebay_\w+_total\{[^}]*finished[^}]*\} 3\.0$", text, re.MULTILINE), text

    async def test_readiness_follows_the_endpoints(self):
        async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
            assert (await gateway.get("/ready", admin=True)).json() == {"ready": True}
            path = f"/forebay/endpoints/{name_of(engine)}/drain"
            async with gateway.session.post(gateway.admin_url + path) as done:
                assert done.status == 200
            assert (await gateway.get("/ready", admin=True)).status == 503

    async def test_web_pages_give_no_orders(self):
        async with LiveGateway(["http://127.0.0.1:9"]) as gateway:
            for path in ("/forebay/endpoints/127.0.0.1:9/drain", "/forebay/reload"):
                url = gateway.admin_url + path
                async with gateway.session.post(url, headers={"origin": "https://a.example"}) as got:
                    assert (got.status, (await got.json())["error"]["code"]) == (403, "browser_refused")
            assert not gateway.station.rows()[0].beliefs.draining

    async def test_pages_that_are_not_there_say_which_are(self):
        async with LiveGateway(["http://127.0.0.1:9"]) as gateway:
            got = await gateway.get("/nothing", admin=True)
            assert got.status == 404
            assert "/metrics" in got.error()["message"]
            for path in ("/forebay/endpoints/nobody/drain", "/elsewhere"):
                async with gateway.session.post(gateway.admin_url + path) as posted:
                    assert posted.status == 404
            async with gateway.session.delete(gateway.admin_url + "/metrics") as deleted:
                assert deleted.status == 405
            async with gateway.session.get(gateway.url + "/metrics") as public:
                assert public.status == 404
            async with gateway.session.post(gateway.admin_url + "/x", data=b"x" * 5000) as long:
                assert long.status == 413
            assert (await gateway.get("/health", admin=True)).status == 200


async def drain(gateway, engine, verb="drain"):
    async with gateway.session.post(
        f"{gateway.admin_url}/forebay/endpoints/{name_of(engine)}/{verb}"
    ) as reply:
        assert reply.status == 200


class TestP36AnEndpoint:
    async def test_p36_its_stream_goes_on_and_nothing_new_comes(self):
        async with (
            Streaming() as leaving,
            ScriptedEngine(ok) as staying,
            LiveGateway(pools=pool(leaving, staying, profile="round-robin")) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK)  # the first of two in turn is either
            await eventually(lambda: leaving.busy or staying.received)
            if not leaving.busy:
                await client.whole()
                client.ask(ASK)
            await client.until(b'"begun"')
            await drain(gateway, leaving)
            for _ in range(6):
                assert (await gateway.post(chat())).status == 200
            assert len(leaving.received) == 1
            state = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"][0]["believed"]
            assert (state["draining"], state["in_flight"]) == (True, 1)
            leaving.go.set()
            assert b" ended" in await client.until(b"0\r\n\r\n")
            await gateway.settled()
            await drain(gateway, leaving, "undrain")
            for _ in range(2):
                await gateway.post(chat())
            assert len(leaving.received) == 2

    async def test_p36_past_the_limit_the_stream_ends_with_an_error_event(self):
        clock = VirtualClock(1_000_000)
        settings = {"drain": {"endpoint_limit_seconds": 120, "lag_seconds": 0}}
        async with (
            Streaming() as leaving,
            LiveGateway(pools=pool(leaving), clock=clock, **settings) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK, headers="x-request-id: p36\r\n")
            await client.until(b"begun")
            await drain(gateway, leaving)
            clock.advance(seconds=119)
            gateway.station.driver.feed(Woke(clock()))
            assert gateway.in_flight() == 1
            clock.advance(seconds=1)
            gateway.station.driver.feed(Woke(clock()))
            error = events(await client.until(b"0\r\n\r\n"))[-1]["error"]
            assert error["code"] == "engine_drain_timeout"
            await gateway.settled()
            assert (await gateway.story("p36"))["outcome"]["reason"] == "drain-timeout"
            leaving.go.set()

    async def test_with_no_other_endpoint_a_request_is_told_to_come_back(self):
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
            await drain(gateway, engine)
            got = await gateway.post(chat())
            assert (got.status, got.error()["code"]) == (503, "rejected_no_endpoints")
            assert int(got.headers["retry-after"]) >= 1

    async def test_an_engine_that_sleeps_says_so_itself(self):
        page = reply(
            b"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n"
            b"# TYPE vllm:engine_sleep_state gauge\n"
            b'vllm:engine_sleep_state{sleep_state="awake"} 0\n'
            b'vllm:engine_sleep_state{sleep_state="weights_offloaded"} 1\n',
            content_type="text/plain",
        )
        async with (
            ScriptedEngine(ok, pages={"/metrics": page}) as asleep,
            ScriptedEngine(ok) as awake,
            LiveGateway(pools=pool(asleep, awake, profile="round-robin")) as gateway,
        ):
            await eventually(lambda: gateway.station.rows()[0].beliefs.draining)
            for _ in range(4):
                assert (await gateway.post(chat())).status == 200
            assert asleep.received == []


class TestP36TheGateway:
    async def begun(self, gateway, stack, count):
        """So many clients in the middle of their streams."""
        clients = [await stack.enter_async_context(Client.of(gateway.url)) for _ in range(count)]
        for client in clients:
            client.ask(ASK)
        for client in clients:
            await client.until(b"begun")
        return clients

    async def test_p36_readiness_goes_at_once_and_streams_end(self):
        settings = {"drain": {"lag_seconds": 1.0, "grace_seconds": 60}}
        async with contextlib.AsyncExitStack() as stack:
            engine = await stack.enter_async_context(Streaming())
            gateway = await stack.enter_async_context(LiveGateway(pools=pool(engine), **settings))
            clients, url = await self.begun(gateway, stack, 3), gateway.url
            draining = asyncio.create_task(gateway.station.drain())
            await asyncio.sleep(0)
            assert (await gateway.get("/ready", admin=True)).status == 503
            assert (await gateway.get("/health")).status == 200  # within the lag new ones are still served
            await asyncio.sleep(1.15)
            with pytest.raises(OSError, match=r"Connect|refused"):
                async with Client.of(url):
                    pass
            assert not draining.done()
            engine.go.set()
            for client in clients:
                assert b" ended" in await client.all()
            await asyncio.wait_for(draining, 30)
            await gateway.settled()

    @pytest.mark.parametrize("path", ["chat", "messages"])
    async def test_p36_past_the_grace_streams_are_told(self, path):
        settings = {"drain": {"lag_seconds": 0, "grace_seconds": 0.1}}
        body, where = (ASK, "/v1/chat/completions") if path == "chat" else (ASK | {"max_tokens": 9}, MESSAGES)
        begin = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"begun"}}\n\n'
        script = [CHUNKED, piece(chunk(content="begun") if path == "chat" else begin), FOR_EVER]
        async with (
            ScriptedEngine(lambda _: script) as engine,
            LiveGateway(pools=pool(engine), **settings) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(body, where)
            await client.until(b"begun")
            await gateway.station.drain()
            gateway.station.gateway.stop()
            error = events(await client.until(b"0\r\n\r\n"))[-1]["error"]
            assert "drained" in error["message"]
            assert gateway.idle()
        (line,) = gateway.lines()
        assert (line["ending"], line["reason"], line["status"]) == ("failed", "drain-timeout", 200)

    async def test_p36_past_the_grace_those_without_content_get_a_503(self):
        settings = {"drain": {"lag_seconds": 0, "grace_seconds": 0.1}}
        async with ScriptedEngine(lambda _: [FOR_EVER]) as engine:
            pools = pool(engine)
            pools[0]["endpoints"][0]["max_in_flight"] = 1
            async with (
                LiveGateway(pools=pools, **settings) as gateway,
                Client.of(gateway.url) as sent,
                Client.of(gateway.url) as held,
            ):
                sent.ask(ASK)
                await eventually(lambda: engine.busy)
                held.ask(ASK)
                await eventually(lambda: len(gateway.station.gateway.exchanges) == 2)
                await gateway.station.drain()
                gateway.station.gateway.stop()
                for client in (sent, held):
                    head, _ = await client.whole()
                    assert head.startswith(b"HTTP/1.1 503 ")
                assert gateway.idle()
            assert len(engine.received) == 1
        assert [line["status"] for line in gateway.lines()] == [503, 503]


class Process:
    """A real `forebay serve`."""

    def __init__(self, path):
        self.path = path
        self.lines = []

    async def __aenter__(self):
        command = [sys.executable, "-m", "forebay.cli.main", "serve", "--config", str(self.path)]
        self.process = await asyncio.create_subprocess_exec(
            *command, stderr=asyncio.subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"}
        )
        async with asyncio.timeout(30):
            while not (found := re.search(rb"(http://\S+)  admin (http://\S+)", await self.line())):
                pass
        self.url, self.admin = (url.decode() for url in found.groups())
        return self

    async def line(self):
        line = await self.process.stderr.readline()
        assert line, b"".join(self.lines).decode()
        self.lines.append(line)
        return line

    async def __aexit__(self, *_exception):
        if self.process.returncode is None:
            self.process.kill()
        self.lines.append(await self.process.stderr.read())
        await self.process.wait()
        self.process._transport.close()
        await asyncio.sleep(0)

    async def get(self, url):
        """Status of a page, over a fresh connection."""
        async with Client.of(url) as client:
            client.writer.write(f"GET {url[url.index('/', 8) :]} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            head, _ = await client.whole()
            return int(head.split(b" ")[1])


async def still_listens(served):
    """Whether a fresh connection is taken. One that waits to be accepted when the listener closes is cut off."""
    try:
        await served.get(f"{served.url}/health")
    except ConnectionRefusedError:
        return False
    except (OSError, EOFError):
        return True
    return True


async def test_p36_sigterm_with_three_streams(tmp_path):
    async with Streaming() as engine:
        path = tmp_path / "forebay.yaml"
        settings = {"lag_seconds": 4.0, "grace_seconds": 60}
        file = {"listen": "127.0.0.1:0", "admin": "127.0.0.1:0", "pools": pool(engine), "drain": settings}
        path.write_bytes(msgspec.json.encode(file))
        async with Process(path) as served, contextlib.AsyncExitStack() as stack:
            assert await served.get(f"{served.admin}/ready") == 200
            clients = [await stack.enter_async_context(Client.of(served.url)) for _ in range(3)]
            for client in clients:
                client.ask(ASK)
                await client.until(b"begun")
            served.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(3.5):
                while await served.get(f"{served.admin}/ready") != 503:
                    await asyncio.sleep(0.01)
            assert await served.get(f"{served.url}/health") == 200  # until the lag is over
            async with asyncio.timeout(30):
                while await still_listens(served):
                    await asyncio.sleep(0.02)
            assert served.process.returncode is None
            engine.go.set()
            for client in clients:
                got = await client.all()
                assert b" ended" in got
                assert DONE in got
            assert await asyncio.wait_for(served.process.wait(), 30) == 0
    log = [
        msgspec.json.decode(line)
        for part in served.lines
        for line in part.splitlines()
        if line.startswith(b"{")
    ]
    assert [entry["ending"] for entry in log if entry["model"]] == ["finished"] * 3
    assert b"Traceback" not in b"".join(served.lines)


async def test_nothing_is_left_behind_by_many_short_lives():
    for _ in range(3):
        async with (
            ScriptedEngine(lambda _: [Pause(0.01), answer()]) as engine,
            LiveGateway([engine.url]) as gateway,
        ):
            got = await asyncio.gather(*(gateway.post(chat()) for _ in range(5)))
            assert [reply.status for reply in got] == [200] * 5
            await gateway.settled()
