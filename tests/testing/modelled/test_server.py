"""A modelled engine over HTTP: vLLM's API and metrics, and who leaves early."""

import asyncio
import json

import aiohttp
import msgspec
import pytest

from forebay.fleet.dialects import vllm
from forebay.fleet.dialects.base import read
from forebay.fleet.metrics import parse
from forebay.simulator.engine.engine import EngineSettings
from forebay.testing.asks import chat
from forebay.testing.engines import scenes
from forebay.testing.modelled import ModelledEngine, Truth

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
PATIENCE = 30.0


def words(text="hello there", **more):
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


async def post(engine, body, path=CHAT):
    async with aiohttp.ClientSession() as session, session.post(engine.url + path, json=body) as response:
        assert response.headers["server"] == "forebay-modelled-engine"
        return response.status, await response.read()


async def eventually(holds):
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.005)


async def readings(engine):
    async with aiohttp.ClientSession() as session, session.get(engine.url + "/metrics") as response:
        return await response.read()


async def test_a_picture_and_words_are_counted_as_the_family_does():
    async with ModelledEngine(speed=1000) as engine:
        ask = chat("x", "hello there", scenes.picture(width=280, height=140), model="m", max_tokens=3)
        status, body = await post(engine, ask.body)
        reply = json.loads(body)
        assert status == 200
        # 50 cells, two marks, two words.
        assert reply["usage"] == {"prompt_tokens": 54, "completion_tokens": 3, "total_tokens": 57}
        assert reply["choices"][0]["message"]["content"] == "so it is"
        assert (engine.served, engine.running, engine.waiting, engine.kv_tokens) == (1, 0, 0, 0)
        (truth,) = engine.truths
        assert (truth.prompt_tokens, truth.output_tokens, truth.patches) == (54, 3, 200)


async def test_a_stream_comes_in_pieces_of_so_many_tokens_after_the_first():
    async with ModelledEngine(speed=1000, chunk_tokens=8) as engine:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        _, body = await post(engine, words(modelled_output_tokens=20, **options))
        events = [line[6:] for line in body.split(b"\n\n") if line]
        assert events[-1] == b"[DONE]"
        chunks = [json.loads(event) for event in events[:-1]]
        said = [choice["delta"]["content"] for chunk in chunks for choice in chunk["choices"]]
        assert [text.count(" ") + text.count(",") + text.count(".") for text in said[2:]] == [8 - 1, 8 - 1, 3]
        assert said[:2] == ["", "so"]
        assert chunks[-1]["usage"]["completion_tokens"] == 20
        assert [c["choices"][0]["finish_reason"] for c in chunks if c["choices"]] == [None] * 4 + ["stop"]


async def test_completions_too():
    async with ModelledEngine(speed=1000) as engine:
        body = {"model": "m", "prompt": "x" * 40, "max_tokens": 2}
        _, whole = await post(engine, body, COMPLETIONS)
        assert json.loads(whole)["choices"][0]["text"] == "so it"
        assert json.loads(whole)["usage"]["prompt_tokens"] == 10
        _, stream = await post(engine, body | {"stream": True}, COMPLETIONS)
        assert b'"text":"so"' in stream
        assert stream.count(b"data: ") == 3


@pytest.mark.parametrize(
    ("body", "output"),
    [
        (words(), 8),
        (words(max_tokens=3), 3),
        (words(modelled_output_tokens=5), 5),
        (words(modelled_output_tokens=5, max_tokens=3), 3),
        (words(modelled_output_tokens=5, max_completion_tokens=9), 5),
    ],
)
async def test_an_answer_is_as_long_as_its_request_says(body, output):
    async with ModelledEngine(speed=1000) as engine:
        _, reply = await post(engine, body)
        assert json.loads(reply)["usage"]["completion_tokens"] == output


@pytest.mark.parametrize(
    "body", [{"model": "m", "messages": 3}, words(max_tokens="many"), words(modelled_output_tokens="many")]
)
async def test_what_is_no_request_is_refused(body):
    async with ModelledEngine() as engine:
        status, reply = await post(engine, body)
        assert status == 400
        assert json.loads(reply)["error"]["code"] == 400


async def test_metrics_are_read_by_vllms_dialect():
    async with ModelledEngine(speed=1000) as engine:
        await post(engine, words(max_tokens=30))
        text = await readings(engine)
        seen = read(parse(text, vllm.DIALECT.names), vllm.DIALECT)
        assert (seen.running, seen.waiting, seen.kv_usage) == (0, 0, 0)
        assert seen.kv_capacity_tokens == engine.capacity_tokens // 16 * 16
        assert seen.gaps.counts[-1] == 29
        assert b'vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 1.0' in text
        assert b'vllm:generation_tokens_total{engine="0",model_name="m"} 30.0' in text
        assert b'vllm:prompt_tokens_total{engine="0",model_name="m"} 2.0' in text


async def test_those_who_wait_and_those_who_run_are_told_apart():
    settings = EngineSettings(max_sequences=2)
    async with ModelledEngine(settings=settings) as engine:
        body = words(max_tokens=100_000, stream=True)
        asks = [asyncio.create_task(post(engine, body)) for _ in range(3)]
        await eventually(lambda: (engine.running, engine.waiting) == (2, 1))
        seen = read(parse(await readings(engine), vllm.DIALECT.names), vllm.DIALECT)
        assert (seen.running, seen.waiting) == (2, 1)
        assert seen.kv_usage > 0
        for ask in asks:
            ask.cancel()
        await asyncio.gather(*asks, return_exceptions=True)
        await eventually(lambda: not (engine.running or engine.waiting or engine.kv_tokens))
        assert [truth.gone for truth in engine.truths] == [True] * 3


async def test_the_truth_can_be_asked_for_over_http():
    async with ModelledEngine(speed=1000) as engine, aiohttp.ClientSession() as session:
        headers = {"x-request-id": "mine"}
        async with session.post(engine.url + CHAT, json=words(), headers=headers) as response:
            await response.read()
        async with session.get(engine.url + "/modelled/truth") as response:
            told = msgspec.json.decode(await response.read(), type=list[Truth])
        assert told == engine.truths
        assert told[0].request_id == "mine"
        assert told[0].arrived <= told[0].entered < told[0].first < told[0].ended
