"""What must hold when a part of the gateway itself, or of its configuration, is at fault; and what telemetry hears."""

import asyncio

from forebay.gateway import readings
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Close, Pause, ScriptedEngine, reply

from .words import CHUNKED, DONE, UNTIL_CLOSE, answer, chat, chunk, role


def ok(_request):
    return [answer()]


async def test_an_attempt_that_cannot_be_sent_is_answered_and_counted():
    # A label of 64 characters is too long for the DNS.
    url = f"http://{'x' * 64}.example:8000"
    async with LiveGateway([url]) as gateway:
        got = await gateway.post(chat())
        assert got.status == 503
        await gateway.settled()


async def test_another_endpoint_serves_what_could_not_be_sent(monkeypatch):
    async with (
        ScriptedEngine(ok) as engine,
        ScriptedEngine(ok) as other,
        LiveGateway([engine.url, other.url]) as gateway,
    ):
        upstreams, faults = gateway.station.upstreams, [RuntimeError("once")]
        send = upstreams.send

        def broken(*arguments):
            if faults:
                raise faults.pop()
            return send(*arguments)

        monkeypatch.setattr(upstreams, "send", broken)
        got = await gateway.post(chat())
        assert (got.status, got.headers["x-forebay-attempts"]) == (200, "2")
        await gateway.settled()


async def test_a_reply_whose_end_cannot_be_handled_is_tried_again_and_then_answered(monkeypatch):
    faults, end = (
        [RuntimeError("one"), None, RuntimeError("two"), RuntimeError("three")],
        readings.WholeReading.end,
    )

    def broken(self, at):
        if (fault := faults.pop(0)) is not None:
            raise fault
        end(self, at)

    monkeypatch.setattr(readings.WholeReading, "end", broken)
    async with asyncio.timeout(30), ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
        got = [await gateway.post(chat()) for _ in range(2)]
        assert [(each.status, each.headers["x-forebay-attempts"]) for each in got] == [(200, "2"), (502, "2")]
        await gateway.settled()


async def test_one_bad_check_does_not_stop_the_sweep(monkeypatch, caplog):
    async with (
        ScriptedEngine(lambda _: [CHUNKED, Pause(30)]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        tasks = [asyncio.create_task(gateway.post(chat())) for _ in range(2)]
        while len(gateway.station.gateway.exchanges) < 2:
            await asyncio.sleep(0.01)
        first, second = gateway.station.gateway.exchanges.values()
        seen = []

        def fails(_at):
            raise RuntimeError("no")

        monkeypatch.setattr(
            type(first), "check", lambda self, at: fails(at) if self is first else seen.append(self)
        )
        gateway.station.gateway.sweep()
        assert seen == [second]
        assert "a request could not be checked" in caplog.text
        for task in tasks:
            task.cancel()
        await gateway.settled()


async def test_p29_an_error_inside_a_whole_200_is_read_as_its_status():
    body = b'{"error":{"message":"too long","type":"invalid_request_error","code":400}}'
    async with ScriptedEngine(lambda _: [reply(body)]) as engine, LiveGateway([engine.url]) as gateway:
        got = [await gateway.post(chat()) for _ in range(8)]
        assert {each.status for each in got} == {400}
        assert len(engine.received) == 8  # none was tried again
        await gateway.settled()


async def test_gaps_between_tokens_are_counted():
    words = [part for word in "abc" for part in (chunk(content=word), Pause(0.05))]
    script = [UNTIL_CLOSE, role(), *words, chunk(finish="stop"), DONE, Close()]
    async with ScriptedEngine(lambda _: script) as engine, LiveGateway([engine.url]) as gateway:
        await gateway.post(chat(stream=True))
        metrics = (await gateway.get("/metrics", admin=True)).body.decode()
        name = "forebay_token_gap_seconds_count"
        counts = [line.split()[-1] for line in metrics.splitlines() if line.startswith(name)]
        assert max(map(float, counts)) >= 2


async def test_engines_get_ids_that_are_unique_and_refusals_borrow_none():
    async with (
        ScriptedEngine(lambda _: [Pause(0.1), answer()]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        named = {"headers": {"x-request-id": "dup"}}
        asked = [asyncio.create_task(gateway.post(chat(), **named)) for _ in range(3)]
        while len(engine.received) < 3:
            await asyncio.sleep(0.005)
        refused = await gateway.post(chat(), "/nope", **named)
        assert refused.status == 404
        assert {each.headers["x-request-id"] for each in await asyncio.gather(*asked)} == {"dup"}
        ids = {request.headers["x-request-id"] for request in engine.received}
        assert len(ids) == 3
        await gateway.settled()
    lines = {line["request_id"]: line for line in gateway.lines()}
    assert ids <= set(lines)
    assert all(lines[request_id]["pool"] == "m" for request_id in ids)
    assert sum(line["status"] == 404 and line["pool"] is None for line in gateway.lines()) == 1


async def test_a_key_that_is_refused_takes_the_endpoint_out_of_placement(monkeypatch):
    monkeypatch.setenv("ENGINE_KEY", "wrong")
    pages = {"/v1/models": reply(b"{}", "401 Unauthorized")}
    async with (
        ScriptedEngine(lambda _: [reply(b"{}", "401 Unauthorized")], pages=pages) as bad,
        ScriptedEngine(ok) as good,
    ):
        endpoints = [{"url": engine.url, "engine": "vllm"} for engine in (bad, good)]
        pools = [{"model": "m", "api_key_env": "ENGINE_KEY", "endpoints": endpoints}]
        async with LiveGateway(pools=pools) as gateway:

            def told():
                return [
                    row.view
                    for row in gateway.station.rows()
                    if row.view is not None and row.view.models == ()
                ]

            async with asyncio.timeout(30):
                while not told():
                    await asyncio.sleep(0.01)
            got = [await gateway.post(chat()) for _ in range(20)]
            assert {each.status for each in got} == {200}
            assert bad.received == []
