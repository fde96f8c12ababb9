"""A gateway of several processes: real ones, over real sockets."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from forebay.runtime.replay import replay
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import CHUNKED, DONE, Client, answer, chat, chunk, piece, refusal, role

PATIENCE = 30.0
ASK = chat(stream=True)


async def eventually(condition, seconds=PATIENCE):
    """Wait until `condition()`, awaited if need be, is true, and return what it gave."""
    async with asyncio.timeout(seconds):
        while True:
            found = condition()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(0.01)


def ok(_request):
    return [answer()]


def pools(*engines, **more):
    endpoints = [{"url": engine.url, "engine": "vllm", **more.pop("endpoint", {})} for engine in engines]
    return [{"model": "m", "family": "generic", "endpoints": endpoints, **more}]


class Holding(ScriptedEngine):
    """Begins each answer, and ends it when `go` is set. `most` is the most that it had at once."""

    def __init__(self):
        super().__init__(ok)
        self.go = asyncio.Event()
        self.most = 0

    async def _play(self, actions, reader, writer):
        self.most = max(self.most, self.busy)
        writer.write(CHUNKED + piece(role() + chunk(content="begun")))
        await self.go.wait()
        writer.write(piece(chunk(content=" ended") + chunk(finish="stop") + DONE) + b"0\r\n\r\n")
        await writer.drain()
        return True


async def metric(gateway, name, **labels):
    """The value of a sample, 0 when there is none."""
    text = (await gateway.get("/metrics", admin=True)).body.decode()
    wanted = {f'{label}="{value}"' for label, value in labels.items()}
    for found in re.finditer(rf"^{name}(?:{{(.*?)}})? (\S+)$", text, re.MULTILINE):
        if wanted <= set((found[1] or "").split(",")):
            return float(found[2])
    return 0.0


async def on_new_connections(gateway, count, body=None, headers=None):
    """So many requests, each on a connection of its own, so that the kernel spreads them. Returns the statuses."""

    async def one(index):
        async with Client.of(gateway.url) as client:
            client.ask(body or chat(), headers=f"x-request-id: {headers or 'q'}{index}\r\n")
            head, _ = await client.whole(PATIENCE)
            return int(head.split()[1])

    return await asyncio.gather(*(one(index) for index in range(count)))


def serving(gateway):
    """Requests that each worker has in hand, by the ledger."""
    ledger = gateway.supervisor.crew._ledger
    return [ledger.load(worker, 0).in_flight for worker in range(ledger.workers)]


class Streams:
    """Clients in the middle of their streams, on both of two workers."""

    def __init__(self, gateway, stack):
        self.gateway, self.stack = gateway, stack
        self.clients = []

    async def begin(self):
        """Begin streams until each worker has two."""
        while min(serving(self.gateway)) < 2:
            client = await self.stack.enter_async_context(Client.of(self.gateway.url))
            client.ask(ASK)
            await client.until(b"begun", PATIENCE)
            self.clients.append(client)
        return self.clients


async def test_two_serve_and_answer_as_one_and_each_log_is_replayed(tmp_path):
    logs = {"decision_log": {"path": str(tmp_path / "decisions")}}
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway(pools=pools(engine), workers=2, **logs) as gateway,
    ):
        await eventually(lambda: serving(gateway) == [0, 0])
        assert set(await on_new_connections(gateway, 24)) == {200}
        states = await gateway.supervisor.crew.states()
        counts = [state.tally.pools["m"].endings.get("finished", 0) for state in states]
        assert sum(counts) == 24
        assert await metric(gateway, "forebay_requests_total", ending="finished") == 24
        assert await metric(gateway, "forebay_request_duration_seconds_count", pool="m") == 24
        assert await metric(gateway, "forebay_worker_up", worker="1") == 1
        assert (await gateway.get("/ready", admin=True)).status == 200
        for index in range(24):
            assert (await gateway.story(f"q{index}"))["outcome"]["ending"] == "finished"
        with pytest.raises(KeyError):
            await gateway.story("never-seen")
        latest = (await gateway.get("/forebay/decisions?limit=5", admin=True)).json()["requests"]
        moments = [story["decisions"][0]["at_us"] for story in latest]
        assert len(moments) == 5
        assert moments == sorted(moments, reverse=True)
        (row,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
        assert row["served"]["finished"] == 24
        assert row["believed"]["in_flight"] == 0
        await gateway.supervisor.drain()
    replayed = [replay(log) for log in sorted((tmp_path / "decisions").iterdir())]
    assert [found.head.worker for found in replayed] == [0, 1]
    assert [found.difference for found in replayed] == [None, None]
    # Of each request: it arrived, and it finished.
    assert sum(found.same for found in replayed) > 2 * 24


async def test_a_worker_that_is_killed_is_replaced_and_its_peer_serves_on():
    async with (
        Holding() as engine,
        LiveGateway(pools=pools(engine), workers=2) as gateway,
        contextlib.AsyncExitStack() as stack,
    ):
        await six_streams(gateway, engine)
        before = await metric(gateway, "forebay_requests_total", ending="finished")
        assert before == 6
        clients = await Streams(gateway, stack).begin()
        first, second = gateway.supervisor.crew.hands
        counts = serving(gateway)
        killed = first.pid
        os.kill(killed, signal.SIGKILL)
        await eventually(lambda: first.pid != killed and first.serving.is_set())
        assert serving(gateway) == [0, counts[1]], "what the dead had is no longer counted"
        assert (first.restarts, second.restarts) == (1, 0)
        assert await metric(gateway, "forebay_worker_restarts_total", worker="0") == 1
        assert await metric(gateway, "forebay_requests_total", ending="finished") == before
        engine.go.set()
        ends = await asyncio.gather(*(rest(client) for client in clients))
        assert Counter(ends) == {"whole": counts[1], "broken": counts[0]}
        # The replacement takes what comes to its socket, and believes what it is told.
        await eventually(lambda: both_serve(gateway))
        assert (await gateway.get("/ready", admin=True)).status == 200
        await gateway.settled(PATIENCE)


async def six_streams(gateway, engine):
    """Six whole streams."""
    engine.go.set()
    for _ in range(6):
        async with Client.of(gateway.url) as client:
            client.ask(ASK)
            await client.until(b"0\r\n\r\n", PATIENCE)
    engine.go.clear()
    await gateway.settled(PATIENCE)


async def rest(client):
    """How a stream that has begun goes on."""
    try:
        text = await client.until(b"0\r\n\r\n", PATIENCE)
    except (asyncio.IncompleteReadError, ConnectionError):
        return "broken"
    return "whole" if b" ended" in text and b"[DONE]" in text else "cut"


async def both_serve(gateway):
    """Serve some more. Whether each of both processes has served since it was started."""
    for _ in range(4):
        async with Client.of(gateway.url) as client:
            client.ask(ASK)
            await client.until(b"0\r\n\r\n", PATIENCE)
    hands = gateway.supervisor.crew.hands
    await asyncio.gather(*(hand.state() for hand in hands))
    return all("m" in hand._latest.tally.pools and hand._latest.tally.pools["m"].endings for hand in hands)


async def test_four_keep_the_bound_on_one_endpoint():
    limit = 6
    async with (
        Holding() as engine,
        LiveGateway(
            pools=pools(engine, endpoint={"max_in_flight": limit}, queue={"ttl_seconds": 60}), workers=4
        ) as gateway,
        contextlib.AsyncExitStack() as stack,
    ):
        clients = [await stack.enter_async_context(Client.of(gateway.url)) for _ in range(40)]
        for client in clients:
            client.ask(ASK)
        crew = gateway.supervisor.crew
        held = lambda: sum(crew._ledger.load(worker, 0).held for worker in range(4))  # noqa: E731
        await eventually(lambda: held() + crew.in_flight() == 40 and engine.busy == crew.in_flight())
        assert limit <= crew.in_flight() <= limit + 3
        engine.go.set()
        for client in clients:
            await client.until(b"0\r\n\r\n", PATIENCE)
        assert limit <= engine.most <= limit + 3
        await gateway.settled(PATIENCE)


async def test_failures_that_each_has_seen_open_the_breaker_for_all():
    sick = lambda _request: [refusal("500 Oops")]  # noqa: E731
    breaker = {"failures": 4, "open_seconds": 60}
    async with (
        ScriptedEngine(sick) as engine,
        LiveGateway(pools=pools(engine, breaker=breaker, retry={"max_retries": 0}), workers=2) as gateway,
    ):
        statuses = [(await on_new_connections(gateway, 1))[0] for _ in range(30)]
        assert len(engine.received) == 4, "as one process would have it"
        assert Counter(statuses) == {500: 4, 503: 26}
        assert (await gateway.get("/ready", admin=True)).status == 503
        assert await metric(gateway, "forebay_endpoint_usable") == 0


async def test_operators_speak_to_all_workers():
    async with (
        ScriptedEngine(ok) as one,
        ScriptedEngine(ok) as two,
        LiveGateway(pools=pools(one, two), workers=2) as gateway,
    ):
        name = one.url.removeprefix("http://")
        async with gateway.session.post(f"{gateway.admin_url}/forebay/endpoints/{name}/drain") as reply:
            assert reply.status == 200
        async with gateway.session.post(f"{gateway.admin_url}/forebay/endpoints/nobody/drain") as reply:
            assert reply.status == 404
        assert set(await on_new_connections(gateway, 16)) == {200}
        assert one.received == []
        hand = gateway.supervisor.crew.hands[0]
        killed = hand.pid
        os.kill(killed, signal.SIGKILL)
        await eventually(lambda: hand.pid != killed and hand.serving.is_set())
        assert set(await on_new_connections(gateway, 16)) == {200}
        assert one.received == [], "a worker that came later knows too"
        async with gateway.session.post(f"{gateway.admin_url}/forebay/endpoints/{name}/undrain") as reply:
            assert reply.status == 200
        assert set(await on_new_connections(gateway, 16)) == {200}
        assert one.received


async def test_they_share_a_unix_socket_and_leave_none_behind(tmp_path):
    path = tmp_path / "public.sock"
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway(
            pools=pools(engine), workers=2, listen=["127.0.0.1:0", f"unix:{path}"], socket_mode="600"
        ) as gateway,
    ):
        assert path.stat().st_mode & 0o777 == 0o600
        for _ in range(8):
            reader, writer = await asyncio.open_unix_connection(path)
            client = Client(reader, writer)
            client.ask(chat())
            head, _ = await client.whole(PATIENCE)
            assert b" 200 " in head
            writer.close()
            await writer.wait_closed()
        assert set(await on_new_connections(gateway, 4)) == {200}
        assert gateway.supervisor.urls()[0].endswith(f", unix:{path}")
    assert not path.exists()


async def test_an_address_that_is_taken_is_told(tmp_path):
    async with ScriptedEngine(ok) as engine:
        taken = engine.url.removeprefix("http://")
        for where in ("listen", "admin"):
            with pytest.raises(OSError, match="cannot listen"):
                async with LiveGateway(pools=pools(engine), workers=2, **{where: taken}):
                    pass


async def test_a_process_that_cannot_be_started_is_tried_again(monkeypatch):
    def no_more(*_args, **_more):
        raise BlockingIOError(11, "no more processes")

    monkeypatch.setattr("forebay.gateway.crew.START_SECONDS", 0.01)
    monkeypatch.setattr("asyncio.create_subprocess_exec", no_more)
    whole = LiveGateway(["http://127.0.0.1:9"], workers=2)._made()
    with pytest.raises(TimeoutError, match="did not start"):
        await whole.start()
    await eventually(lambda: all(hand.restarts for hand in whole.crew.hands))
    await whole.stop()


async def answers(gateway, path, good):
    """Whether the admin port's answer is as wanted."""
    return good(await gateway.get(path, admin=True))


async def counted(gateway, count):
    """Whether so many whole requests are counted."""
    return await metric(gateway, "forebay_requests_total", ending="finished") == count


async def test_a_worker_that_hangs_holds_up_nobody(monkeypatch):
    monkeypatch.setattr("forebay.gateway.hand.ANSWER_SECONDS", 0.2)
    monkeypatch.setattr("forebay.gateway.crew.LOOK_SECONDS", 0.05)
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway(pools=pools(engine), workers=2, eyes={"scrape_seconds": 0.05}) as gateway,
    ):
        hand = gateway.supervisor.crew.hands[0]
        assert set(await on_new_connections(gateway, 8)) == {200}
        assert await metric(gateway, "forebay_requests_total", ending="finished") == 8
        os.kill(hand.pid, signal.SIGSTOP)
        try:
            assert await metric(gateway, "forebay_requests_total", ending="finished") == 8
            # Its peer answers for both, as soon as it can.
            await eventually(lambda: answers(gateway, "/ready", lambda reply: reply.status == 200))
            await eventually(
                lambda: answers(gateway, "/forebay/endpoints", lambda reply: reply.json()["endpoints"])
            )
            # What it would be told is kept for it, the newest only.
            hand._channel.pause_writing()
            await eventually(lambda: hand._views)
            await eventually(lambda: len(gateway.supervisor.crew._views) == 1)
            assert len(hand._views) == 1
            assert await hand.fleet() is None, "nobody asks where nobody listens"
            hand._channel.resume_writing()
            assert not hand._views
        finally:
            os.kill(hand.pid, signal.SIGCONT)
        await eventually(hand.fleet)
        assert hand.restarts == 0
        # One that hangs for good is ended, and replaced.
        monkeypatch.setattr("forebay.gateway.hand.SILENCE_SECONDS", 1.0)
        os.kill(hand.pid, signal.SIGSTOP)
        await eventually(lambda: hand.restarts == 1)
        monkeypatch.setattr("forebay.gateway.hand.SILENCE_SECONDS", 1000.0)
        await eventually(hand.fleet)
        await eventually(lambda: counted(gateway, 8))


async def test_a_worker_that_cannot_begin_is_tried_again_later_each_time(monkeypatch):
    monkeypatch.setattr("forebay.gateway.crew.START_SECONDS", 0.01)
    monkeypatch.setenv("KEY_OF_A_TEST", "secret")
    gateway = LiveGateway(["http://127.0.0.1:9"], workers=2, keys_env="KEY_OF_A_TEST")
    whole = gateway._made()
    monkeypatch.delenv("KEY_OF_A_TEST")
    with pytest.raises(TimeoutError, match="did not start"):
        await whole.start()
    first, second = whole.crew.hands
    await eventually(lambda: first.restarts and second.restarts)
    assert not first.serving.is_set()
    await whole.stop()
    assert not any(alive(hand.pid) for hand in whole.crew.hands)


async def test_a_new_plan_is_every_workers():
    async with (
        ScriptedEngine(ok) as one,
        ScriptedEngine(ok) as two,
        LiveGateway(pools=pools(one), workers=2) as gateway,
    ):
        assert set(await on_new_connections(gateway, 8)) == {200}
        done = await gateway.reload(pools=pools(two))
        assert done.status == 200, done.body
        assert [hand.version for hand in gateway.supervisor.crew.hands] == [2, 2]
        seen = len(one.received)
        assert set(await on_new_connections(gateway, 8)) == {200}
        assert len(one.received) == seen
        assert len(two.received) == 8
        slots = gateway.supervisor.slots()
        assert [lease.url for lease in slots.leases] == [two.url], "nobody knows the old one any more"


async def test_beliefs_are_of_all_and_draining_lets_streams_end_and_then_every_process():
    async with (
        Holding() as engine,
        LiveGateway(pools=pools(engine), workers=2, drain={"lag_seconds": 0, "grace_seconds": 60}) as gateway,
        contextlib.AsyncExitStack() as stack,
    ):
        clients = await Streams(gateway, stack).begin()
        assert await metric(gateway, "forebay_endpoint_in_flight") == len(clients)
        (row,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
        assert row["believed"]["in_flight"] == row["believed"]["decoding"] == len(clients)
        pids = [hand.pid for hand in gateway.supervisor.crew.hands]
        address = gateway.supervisor.public_address
        draining = asyncio.create_task(gateway.supervisor.drain())
        await eventually(lambda: gateway.supervisor.draining)
        assert (await gateway.get("/ready", admin=True)).status == 503
        await eventually(lambda: refused(*address))
        engine.go.set()
        assert {await rest(client) for client in clients} == {"whole"}
        async with asyncio.timeout(PATIENCE):
            await draining
        assert not any(alive(pid) for pid in pids)
        text = (await gateway.get("/metrics", admin=True)).body.decode()
        assert f'forebay_requests_total{{ending="finished",pool="m"}} {len(clients)}.0' in text, (
            "last words count"
        )


async def refused(host, port):
    """Whether nobody listens there any more."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return True
    writer.close()
    return False


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def children_of(pid):
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def test_when_the_supervisor_is_killed_nobody_is_left(tmp_path):
    async with ScriptedEngine(ok) as engine:
        log = tmp_path / "access.log"
        settings = {
            "listen": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "workers": 2,
            "access_log": {"path": str(log)},
            "drain": {"lag_seconds": 0, "grace_seconds": 5},
            "pools": pools(engine),
        }
        config = tmp_path / "forebay.yaml"
        config.write_text(json.dumps(settings))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "forebay.cli.main",
            "serve",
            "--config",
            str(config),
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(PATIENCE):
                line = ""
                while "admin http" not in line:
                    line = (await process.stderr.readline()).decode()
                    assert line, "it ended instead"
            children = children_of(process.pid)
            assert len(children) == 2
            url = re.search(r"forebay \S+: (http://\S+)", line)[1]
            async with Client.of(url) as client:
                client.ask(chat())
                assert b" 200 " in (await client.whole(PATIENCE))[0]
        finally:
            process.kill()
            await process.wait()
        await eventually(lambda: not any(alive(pid) for pid in children))
        assert [json.loads(line)["status"] for line in log.read_text().splitlines()] == [200]
