"""The public kit: transcripts, time, builders, modelled and scripted engines."""

import asyncio

import aiohttp
import pytest

from forebay.conductor.commands import Dispatch, Reject
from forebay.conductor.events import Arrived, Finished
from forebay.domain.outcome import Attempt, Usage
from forebay.testing import VirtualClock, play
from forebay.testing.asks import chat
from forebay.testing.build import conductor, request
from forebay.testing.engines import scenes
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine
from forebay.testing.scripted import Close, Pause, Reset, ScriptedEngine, reply, stream_head
from forebay.testing.timing import EngineModel

CHAT = "/v1/chat/completions"


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
    book = play(conductor()) >> Arrived(0, request(model="x"))
    command = Reject("r", 404, "model-not-found", "no pool serves this model")
    book << command << None
    assert book.last == command


def test_virtual_time_only_goes_on():
    clock = VirtualClock(5)
    assert clock.advance(seconds=1.5, us=2) == clock() == 1_500_007
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(us=-1)


def test_an_engine_model_adds_up():
    model = EngineModel(encode_us_per_patch=2, prefill_us_per_token=3, step_us=10, step_us_per_sequence=1)
    assert model.prompt_us(5, 7) == 31
    assert model.decode_step_us(4) == 13


async def post(url, body):
    async with aiohttp.ClientSession() as session, session.post(url + CHAT, json=body) as response:
        return response.status, await response.read()


async def test_a_modelled_engine_speaks_vllms_api_and_counts():
    async with ModelledEngine(speed=1000) as engine:
        ask = chat("x", "hello there", scenes.picture(width=280, height=140), model="m", max_tokens=3)
        status, body = await post(engine.url, ask.body)
        assert status == 200
        assert b'"prompt_tokens": 54' in body  # 50 cells, two marks, two words
        assert b"so it is" in body
        status, body = await post(
            engine.url, ask.body | {"stream": True, "stream_options": {"include_usage": True}}
        )
        assert body.count(b"data: ") == 7
        assert body.endswith(b"data: [DONE]\n\n")
        sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
        assert engine.prompt([{"content": [sound]}]) == (1, 0)
        assert (engine.served, engine.running, engine.waiting, engine.kv_tokens) == (2, 0, 0, 0)


async def test_decodes_wait_while_a_prompt_is_worked_on():
    model = EngineModel(prefill_us_per_token=1_000, step_us=1_000, slots=2)
    async with ModelledEngine(engine=model) as engine, aiohttp.ClientSession() as session:
        words = {"model": "m", "messages": [{"role": "user", "content": "x" * 400}], "max_tokens": 40}
        asks = [asyncio.create_task(session.post(engine.url + CHAT, json=words)) for _ in range(3)]
        await asyncio.sleep(0.05)
        async with session.get(engine.url + "/metrics") as response:
            text = await response.text()
        assert 'vllm:num_requests_running{engine="0",model_name="m"} 2.0' in text
        assert 'vllm:num_requests_waiting{engine="0",model_name="m"} 1.0' in text
        for each in await asyncio.gather(*asks):
            assert each.status == 200
            each.release()


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
