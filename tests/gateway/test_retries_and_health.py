"""Engines that fail, hang, lie or refuse: what is tried again, what is left alone, and what the client is told."""

import asyncio
import email.utils
import socket
import time

import pytest

from forebay.conductor.events import Woke
from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.testing.clock import VirtualClock
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine
from forebay.testing.scripted import Close, Pause, Reset, ScriptedEngine, reply

from .words import (
    CHUNKED,
    FOR_EVER,
    Client,
    answer,
    case,
    chat,
    chunk,
    eventually,
    piece,
    pool,
    refusal,
    role,
    says,
    stream,
    text_of,
)

ASK = chat(stream=True)
FAST_EYES = {"scrape_seconds": 0.02, "health_seconds": 0.02, "models_seconds": 0.02}


def ok(_request):
    return [answer()]


def pass_time(gateway, clock, seconds):
    """Move a virtual clock, and wake the conductor as its timer would."""
    clock.advance(seconds=seconds)
    gateway.station.driver.feed(Woke(clock()))


async def believed(gateway):
    """What is believed of each endpoint, by the admin port."""
    listed = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
    return [endpoint["believed"] for endpoint in listed]


class TestP26RetryAfter:
    async def test_p26_a_when_all_are_cooling_the_first_to_be_ready_is_named(self):
        clock = VirtualClock(1_000_000)
        waits = iter((8, 20))
        script = lambda _: [refusal("429 Too Many Requests", extra=f"retry-after: {next(waits)}\r\n")]  # noqa: E731
        async with (
            ScriptedEngine(script) as one,
            ScriptedEngine(script) as two,
            LiveGateway(pools=pool(one, two), clock=clock) as gateway,
        ):
            assert (await gateway.post(chat())).status == 429
            pass_time(gateway, clock, 0.8)
            got = await gateway.post(chat())
            assert (got.status, got.headers["retry-after"]) == (503, "8")  # 7.2 s, and whole seconds only
            assert got.error()["code"] == "rejected_no_endpoints"
            assert got.headers["x-forebay-attempts"] == "0"
            assert len(one.received) + len(two.received) == 2

    async def test_p26_b_the_only_endpoints_wish_is_passed_on_and_kept(self):
        clock = VirtualClock(1_000_000)
        answers = iter([refusal("429 Too Many Requests", "slow down", "Retry-After: 12\r\n"), answer()])
        async with (
            ScriptedEngine(lambda _: [next(answers)]) as engine,
            LiveGateway(pools=pool(engine), clock=clock) as gateway,
        ):
            got = await gateway.post(chat())
            assert (got.status, got.headers.getall("retry-after")) == (429, ["12"])
            assert got.error()["message"] == "slow down"
            assert got.headers["x-forebay-attempts"] == "1"
            pass_time(gateway, clock, 11.5)
            got = await gateway.post(chat())
            assert (got.status, got.headers["retry-after"]) == (503, "1")
            pass_time(gateway, clock, 0.5)
            assert (await gateway.post(chat())).status == 200
            assert len(engine.received) == 2

    async def test_p26_c_a_date_is_understood(self):
        clock = VirtualClock(1_000_000)
        date = email.utils.formatdate(time.time() + 30, usegmt=True)
        script = lambda _: [refusal("429 Too Many Requests", extra=f"retry-after: {date}\r\n")]  # noqa: E731
        async with ScriptedEngine(script) as engine, LiveGateway(pools=pool(engine), clock=clock) as gateway:
            got = await gateway.post(chat())
            assert 28 <= int(got.headers["retry-after"]) <= 31
            pass_time(gateway, clock, 27)
            got = await gateway.post(chat())
            assert (got.status, 1 <= int(got.headers["retry-after"]) <= 4) == (503, True)
            pass_time(gateway, clock, 5)
            await gateway.post(chat())
            assert len(engine.received) == 2

    async def test_p26_d_another_endpoint_is_asked_at_once(self):
        refuse = [refusal("429 Too Many Requests", extra="retry-after: 60\r\n")]
        async with (
            ScriptedEngine(lambda _: refuse) as limited,
            ScriptedEngine(ok) as free,
            LiveGateway(pools=pool(limited, free, profile="round-robin")) as gateway,
        ):
            for _ in range(6):
                got = await gateway.post(chat())
                assert got.status == 200
                assert "retry-after" not in got.headers
            assert (len(limited.received), len(free.received)) == (1, 6)

    @pytest.mark.parametrize("wish", ["0", "-3", "1.5", "soon", ""])
    async def test_p26_nothing_ever_says_0_or_a_fraction(self, wish):
        script = lambda _: [refusal("429 Too Many Requests", extra=f"retry-after: {wish}\r\n")]  # noqa: E731
        async with ScriptedEngine(script) as engine, LiveGateway(pools=pool(engine)) as gateway:
            got = await gateway.post(chat())
            assert got.status == 429
            assert int(got.headers["retry-after"]) >= 1

    async def test_p26_a_503_of_an_engine_keeps_its_wish(self):
        script = lambda _: [refusal("503 Service Unavailable", extra="retry-after: 7\r\n")]  # noqa: E731
        async with ScriptedEngine(script) as engine, LiveGateway(pools=pool(engine)) as gateway:
            got = await gateway.post(chat())
            assert (got.status, got.headers["retry-after"]) == (503, "7")


class TestP20Budgets:
    async def test_p20_retries_are_counted_per_request(self):
        async with (
            ScriptedEngine(lambda _: [Reset()]) as one,
            ScriptedEngine(lambda _: [Reset()]) as two,
            LiveGateway(pools=pool(one, two, retry={"max_retries": 3}, breaker={"failures": 100})) as gateway,
        ):
            got = await gateway.post(chat())
            assert (got.status, got.headers["x-forebay-attempts"]) == (502, "4")
            assert len(one.received) + len(two.received) == 4
            await gateway.settled()

    async def test_p20_retries_are_budgeted_per_pool(self):
        retry = {"ratio": 0.5, "minimum_per_second": 0.0}
        async with (
            ScriptedEngine(lambda _: [Reset()]) as engine,
            LiveGateway(
                pools=pool(engine, retry=retry, breaker={"failures": 1000}), clock=VirtualClock()
            ) as gateway,
        ):
            tries = [int((await gateway.post(chat())).headers["x-forebay-attempts"]) for _ in range(20)]
            assert sum(tries) == 20 + 10 == len(engine.received)


class TestP29Breaker:
    async def test_p29_the_clients_faults_open_nothing(self):
        answers = [[refusal(f"{code} X", "context too long")] for code in (400, 401, 403, 404, 413, 422) * 4]
        answers.append([answer()])
        script = iter(answers)
        async with (
            ScriptedEngine(lambda _: next(script)) as engine,
            LiveGateway(pools=pool(engine, breaker={"failures": 5})) as gateway,
        ):
            for code in (400, 401, 403, 404, 413, 422) * 4:
                got = await gateway.post(chat())
                assert (got.status, got.error()["message"]) == (code, "context too long")
                assert got.headers["x-forebay-attempts"] == "1"
            assert (await gateway.post(chat())).status == 200
            assert len(engine.received) == 25

    @pytest.mark.parametrize(
        "failure",
        [[refusal("502 Bad Gateway")], [refusal("408 Request Timeout")], [Reset()], [CHUNKED, Close()]],
        ids=["502", "408", "reset", "truncated"],
    )
    async def test_p29_its_own_faults_open_the_breaker(self, failure):
        clock = VirtualClock(1_000_000)
        well = []
        pools = lambda engine: pool(engine, breaker={"failures": 5}, retry={"max_retries": 0})  # noqa: E731
        async with (
            ScriptedEngine(lambda _: [answer()] if well else failure) as engine,
            LiveGateway(pools=pools(engine), clock=clock) as gateway,
        ):
            # The clock stands: there is one probe, and what it found must not come after the failures.
            await eventually(lambda: gateway.station.rows()[0].view, 30)
            for _ in range(5):
                assert (await gateway.post(chat())).status in {502, 408}
            got = await gateway.post(chat())
            assert (got.status, got.headers["retry-after"]) == (503, "10")
            assert len(engine.received) == 5
            assert (await gateway.get("/ready", admin=True)).status == 503
            well.append(True)
            pass_time(gateway, clock, 10)
            assert (await gateway.post(chat())).status == 200
            assert (await gateway.get("/ready", admin=True)).status == 200

    async def test_p29_with_another_endpoint_nobody_notices(self):
        async with (
            ScriptedEngine(lambda _: [refusal("502 Bad Gateway")]) as ill,
            ScriptedEngine(ok) as well,
            LiveGateway(pools=pool(ill, well, profile="round-robin", breaker={"failures": 5})) as gateway,
        ):
            for _ in range(30):
                assert (await gateway.post(chat())).status == 200
            assert (len(ill.received), len(well.received)) == (5, 30)


class TestP27OwnLoadCounts:
    METRICS = (
        "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running {running}\n"
        "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 0\n"
        "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.1\n"
    )

    def engine(self, running):
        page = reply(self.METRICS.format(running=running).encode(), content_type="text/plain")
        return ScriptedEngine(lambda _: [Pause(0.3), answer()], pages={"/metrics": page})

    @pytest.mark.parametrize("profile", ["least-request", "multimodal", "queue-kv"])
    async def test_p27_a_burst_between_two_scrapes_is_shared(self, profile):
        async with (
            self.engine(0) as idle,
            self.engine(1) as loaded,
            LiveGateway(pools=pool(idle, loaded, profile=profile), eyes={"scrape_seconds": 5}) as gateway,
        ):
            await eventually(
                lambda: all(row.view and row.view.running is not None for row in gateway.station.rows())
            )
            await asyncio.gather(*(gateway.post(chat()) for _ in range(8)))
            assert min(len(idle.received), len(loaded.received)) >= 3
            await gateway.settled()

    async def test_p27_equal_endpoints_share_evenly(self):
        async with (
            ScriptedEngine(lambda _: [Pause(0.2), answer()]) as one,
            ScriptedEngine(lambda _: [Pause(0.2), answer()]) as two,
            LiveGateway(pools=pool(one, two), eyes={"scrape_seconds": 5}) as gateway,
        ):
            await asyncio.gather(*(gateway.post(chat()) for _ in range(200)))
            assert abs(len(one.received) - len(two.received)) <= 20
            await gateway.settled()
            assert [state["in_flight"] for state in await believed(gateway)] == [0, 0]


P32 = {
    "p32_old_names.prom": ("vllm", 3, 2, 0.42),
    "p32_new_names.prom": ("vllm", 3, 2, 0.42),
    "p32_both_names.prom": ("vllm", 3, 2, 0.42),
    "p32_sglang.prom": ("sglang", 3, 2, 0.42),
    "p32_llamacpp.prom": ("llama.cpp", 3, 2, None),
    "p32_dp2.prom": ("vllm", 54, 117, 1.0),
}


@pytest.mark.parametrize("name", P32)
async def test_p32_metrics_of_every_dialect_are_seen(name):
    engine_name, running, waiting, kv_usage = P32[name]
    page = reply(case(name), content_type="text/plain; version=0.0.4")
    async with ScriptedEngine(ok, pages={"/metrics": page}) as engine:
        pools = [{"model": "m", "endpoints": [{"url": engine.url, "engine": engine_name}]}]
        async with LiveGateway(pools=pools) as gateway:
            await eventually(lambda: (view := gateway.station.rows()[0].view) and view.running is not None)
            seen = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"][0]["seen"]
            assert (seen["running"], seen["waiting"], seen["kv_usage"]) == (running, waiting, kv_usage)
            if name == "p32_dp2.prom":
                assert seen["kv_usage_mean"] == pytest.approx(0.55)


class TestHealth:
    async def test_an_engine_whose_probe_lies_is_found_out_by_its_work(self):
        """/health says 200 throughout."""
        async with (
            ScriptedEngine(lambda _: [refusal("500 Internal Server Error")]) as liar,
            ScriptedEngine(ok) as honest,
            LiveGateway(pools=pool(liar, honest, profile="round-robin"), eyes=FAST_EYES) as gateway,
        ):
            for _ in range(20):
                assert (await gateway.post(chat())).status == 200
            assert len(liar.received) == 5
            await asyncio.sleep(0.1)  # several good probes later
            assert [state["usable"] for state in await believed(gateway)] == [False, True]

    async def test_a_failing_probe_does_not_stop_an_engine_that_works(self):
        script = lambda _: [CHUNKED, piece(role() + chunk(content="x")), *TRICKLE, FOR_EVER]  # noqa: E731
        async with (
            ScriptedEngine(script) as engine,
            LiveGateway(pools=pool(engine), eyes=FAST_EYES) as gateway,
            Client.of(gateway.url) as client,
        ):
            await eventually(lambda: gateway.station.ready)
            client.ask(ASK)
            await client.until(b"x")
            engine.pages["/health"] = reply(b"", "500 Internal Server Error")
            await eventually(lambda: not gateway.station.ready)
            assert gateway.in_flight() == 1  # a running stream is never cut for a probe's sake
            await client.until(b'"19"')

    async def test_probes_alone_take_an_idle_engine_out_and_bring_it_back(self):
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), eyes=FAST_EYES) as gateway:
            assert (await gateway.get("/ready", admin=True)).status == 200
            engine.pages["/health"] = reply(b"", "503 Service Unavailable")
            await eventually(lambda: not gateway.station.ready)
            assert (await gateway.get("/ready", admin=True)).status == 503
            got = await gateway.post(chat())
            assert got.status == 503
            assert int(got.headers["retry-after"]) >= 1
            del engine.pages["/health"]
            await eventually(lambda: gateway.station.ready)
            assert (await gateway.post(chat())).status == 200

    async def test_an_engine_that_serves_another_model_is_not_asked(self):
        async with (
            ScriptedEngine(ok, model="something-else") as wrong,
            ScriptedEngine(ok) as right,
            LiveGateway(pools=pool(wrong, right, profile="round-robin"), eyes=FAST_EYES) as gateway,
        ):
            await eventually(lambda: all(row.view and row.view.models for row in gateway.station.rows()))
            for _ in range(4):
                assert (await gateway.post(chat())).status == 200
            assert wrong.received == []

    async def test_an_engine_that_is_not_there_costs_one_attempt_only_until_it_is_known(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            gone = f"http://127.0.0.1:{nobody.getsockname()[1]}"
            async with ScriptedEngine(ok) as engine:
                async with LiveGateway([gone, engine.url]) as gateway:
                    for _ in range(12):
                        assert (await gateway.post(chat())).status == 200
                async with LiveGateway([gone]) as gateway:
                    got = await gateway.post(chat())
                    assert (got.status, got.error()["code"]) == (503, "engine_connect")
                    assert int(got.headers["retry-after"]) >= 1


TRICKLE = [part for n in range(20) for part in (Pause(0.01), piece(chunk(content=f"{n}")))]


async def test_a_fresh_replica_starts_slowly():
    async with ScriptedEngine(ok) as old, ScriptedEngine(ok) as new:
        clock = VirtualClock(1_000_000)
        async with LiveGateway(pools=pool(old, slow_start_seconds=30), clock=clock) as gateway:
            await eventually(lambda: gateway.station.rows()[0].view)
            file = {
                "listen": "127.0.0.1:0",
                "admin": "127.0.0.1:0",
                "pools": pool(old, new, slow_start_seconds=30),
            }
            gateway.station.adopt(assemble(Document.of(file, "test"), gateway.station.slots()))
            first, second = await believed(gateway)
            assert first["ramp"] == 1.0
            assert second["ramp"] < 0.5
            clock.advance(seconds=31)
            assert (await gateway.post(chat())).status == 200
            assert [state["ramp"] for state in await believed(gateway)] == [1.0, 1.0]
            await gateway.settled()


async def test_a_fresh_replica_gets_less_at_first():
    script = lambda _: [Pause(0.3), answer()]  # noqa: E731
    async with (
        ScriptedEngine(script) as old,
        ScriptedEngine(script) as new,
        LiveGateway(pools=pool(old)) as gateway,
    ):
        await eventually(lambda: gateway.station.rows()[0].view)
        file = {"listen": "127.0.0.1:0", "admin": "127.0.0.1:0", "pools": pool(old, new)}
        gateway.station.adopt(assemble(Document.of(file, "test"), gateway.station.slots()))
        await asyncio.gather(*(gateway.post(chat()) for _ in range(40)))
        assert len(new.received) < 10 < 30 < len(old.received)
        await gateway.settled()


async def test_a_held_request_goes_when_there_is_room():
    async with ScriptedEngine(lambda _: [Pause(0.05), answer()]) as engine:
        pools = pool(engine)
        pools[0]["endpoints"][0]["max_in_flight"] = 2
        async with LiveGateway(pools=pools) as gateway:
            peak = 0

            async def watch():
                nonlocal peak
                while True:
                    peak = max(peak, engine.busy)
                    await asyncio.sleep(0.002)

            watching = asyncio.create_task(watch())
            got = await asyncio.gather(*(gateway.post(chat()) for _ in range(10)))
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            assert {reply.status for reply in got} == {200}
            assert peak == 2
            await gateway.settled()


async def test_a_held_request_waits_no_longer_than_its_time():
    async with ScriptedEngine(lambda _: [FOR_EVER]) as engine:
        pools = pool(engine, queue={"ttl_seconds": 0.1, "max_requests": 1})
        pools[0]["endpoints"][0]["max_in_flight"] = 1
        async with LiveGateway(pools=pools) as gateway, Client.of(gateway.url) as first:
            first.ask(ASK)
            await eventually(lambda: engine.busy)
            held = asyncio.create_task(gateway.post(chat()))
            await eventually(lambda: len(gateway.station.gateway.exchanges) == 2)
            full = await gateway.post(chat())
            assert (full.status, full.error()["code"]) == (503, "rejected_saturated")
            got = await held
            assert (got.status, got.error()["code"]) == (503, "rejected_ttl_expired")
            assert (full.headers["retry-after"], got.headers["retry-after"]) == ("1", "1")
            first.leave()
            await gateway.settled()


async def test_modelled_engines_behave_under_a_crowd():
    async with (
        ModelledEngine(speed=50) as one,
        ModelledEngine(speed=50) as two,
        LiveGateway(pools=pool(one, two, profile="multimodal")) as gateway,
    ):
        asks = [chat("x" * 40 * n, stream=bool(n % 2), max_tokens=8) for n in range(1, 41)]
        got = await asyncio.gather(*(gateway.post(ask) for ask in asks))
        assert {reply.status for reply in got} == {200}
        assert min(one.served, two.served) >= 10
        streamed = [text_of(reply.body) for n, reply in enumerate(got, 1) if n % 2]
        assert set(streamed) == {"so it is modelled, not measured."}
        await gateway.settled()


async def test_a_retry_after_a_stale_connection_is_not_an_attempt():
    """The kept connection is closed by the engine just as a request is sent on it."""
    closes = iter([True, False])
    script = lambda _: [stream(says("x")), Close()] if next(closes) else [stream(says("y"))]  # noqa: E731
    async with ScriptedEngine(script) as engine, LiveGateway([engine.url]) as gateway:
        assert text_of((await gateway.post(ASK)).body) == "x"
        got = await gateway.post(ASK)
        assert (text_of(got.body), got.headers["x-forebay-attempts"]) == ("y", "1")


async def test_the_log_tells_how_every_request_ended():
    """Also those that failed or were refused: where they were, how often they were tried, what they cost."""
    half = [CHUNKED, piece(role() + chunk(content="x") * 3), Pause(0.02), Reset()]
    ways = iter([[refusal("400 Bad Request")], half, [Reset()], [Reset()]])
    async with ScriptedEngine(lambda _: next(ways)) as engine, LiveGateway(pools=pool(engine)) as gateway:
        for _ in range(3):
            await gateway.post(ASK)
        await gateway.post(chat(model="nope"))
    name = engine.url.removeprefix("http://")
    told = [(line["status"], line["ending"], line["reason"], line["tries"]) for line in gateway.lines()]
    assert told == [
        (400, "failed", "client-status", 1),
        (200, "failed", "reset", 1),
        (502, "failed", "reset", 2),
        (404, "rejected", "model-not-found", 0),
    ]
    assert [line["endpoint"] for line in gateway.lines()] == [name, name, name, None]
    assert gateway.lines()[1]["completion_tokens"] == 3
