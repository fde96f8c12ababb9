"""The public kit: transcripts, time, builders, scripted engines, a live gateway."""

import asyncio

import aiohttp
import msgspec
import pytest

from forebay.conductor.commands import Dispatch, Reject
from forebay.conductor.events import Arrived, Finished
from forebay.domain.outcome import Attempt, Usage
from forebay.testing import VirtualClock, play
from forebay.testing.asks import chat
from forebay.testing.build import conductor, request
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine
from forebay.testing.scripted import Close, Pause, Reset, ScriptedEngine, reply, stream_head


def test_a_playbook_notices_what_was_not_expected():
    book = play(conductor()) >> Arrived(0, request())
    with pytest.raises(AssertionError, match="not expected"):
        book >> Finished(1, Attempt("r"), Usage())
    with pytest.raises(AssertionError, match="nothing was expected"):
        book << None
    with pytest.raises(AssertionError, match="expected .*Reject"):
        book << Reject
    with pytest.raises(AssertionError, match="no command is left"):
        book << Dispatch


def test_a_playbook_compares_whole_commands():
    def refused():
        return play(conductor()) >> Arrived(0, request(model="x"))

    command = (refused() << Reject).last
    assert (refused() << command << None).last == command
    with pytest.raises(AssertionError, match="expected .*other"):
        refused() << msgspec.structs.replace(command, message="other")


def test_virtual_time_only_goes_on():
    clock = VirtualClock(5)
    assert clock.advance(seconds=1.5, us=2) == clock() == 1_500_007
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(us=-1)


async def test_a_scripted_engine_follows_to_the_byte():
    scripts = {
        "/whole": [reply(b"{}")],
        "/reset": [stream_head(), b"data: x\n\n", Reset()],
        "/close": [Close()],
    }
    async with (
        ScriptedEngine(lambda request: scripts[request.path]) as engine,
        aiohttp.ClientSession() as session,
    ):
        async with session.post(engine.url + "/whole", data=b"abc", headers={"X-A": "1"}) as response:
            assert await response.json() == {}
        assert (engine.received[0].body, engine.received[0].headers["x-a"]) == (b"abc", "1")
        host, port = engine.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /reset HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            while await reader.read(1000):
                pass
        writer.close()
        with pytest.raises(aiohttp.ClientError):
            await session.post(engine.url + "/close")
        for path, status in (("/health", 200), ("/v1/models", 200), ("/metrics", 200), ("/x", 404)):
            async with session.get(engine.url + path) as response:
                assert response.status == status


async def test_a_scripted_engine_notices_who_left():
    async with ScriptedEngine(lambda _: [Pause(0.01), stream_head(), Pause(30)]) as engine:
        host, port = engine.url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /x HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
        while not engine.busy:
            await asyncio.sleep(0.01)
        writer.close()
        await writer.wait_closed()
        while engine.busy:
            await asyncio.sleep(0.01)
        assert engine.closed_early == 1


async def test_a_live_gateway_serves_modelled_engines():
    async with ModelledEngine(speed=1000) as engine, LiveGateway([engine.url]) as gateway:
        answer = await gateway.post(chat("x", "hi", model="m").body)
        assert answer.status == 200
        assert answer.json()["model"] == "m"
        assert gateway.in_flight() == 0
        assert (await gateway.get("/ready", admin=True)).json() == {"ready": True}
        assert (await gateway.post({"model": "nope", "messages": []})).error()["code"] == "model_not_found"
