"""The gateway before a real vLLM: exact predictions, streams, Anthropic messages, cancellation, and a look at its load."""

import asyncio
import base64
from importlib.resources import files
from pathlib import Path

import pytest

from forebay.testing.asks import chat
from forebay.testing.engines import launch, scenes, vllm_cpu
from forebay.testing.live import LiveGateway
from forebay.testing.showcase import TINYVLM_FAMILY

WHY_NOT = vllm_cpu.vllm_available()
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"VLLM NOT TESTED: {WHY_NOT}"),
]


WEIGHTS = files("forebay").joinpath("testing/models/tinyvlm/hf")
CASES = Path(__file__).parents[1] / "cases"


def gateway_before(engine, **changes):
    pool = {
        "model": launch.TINYVLM,
        "aliases": ["gpt-4o"],
        "family": TINYVLM_FAMILY,
        "profile": "multimodal",
        "endpoints": [{"url": engine.url}],
        **changes,
    }
    return LiveGateway(pools=[pool], eyes={"scrape_seconds": 0.2})


async def seen(gateway):
    (endpoint,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
    return endpoint


async def until(condition, seconds=20):
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_true_answers_and_exact_predictions_for_vllm(engine):
    async with gateway_before(engine) as gateway:

        async def found_out():
            return (await seen(gateway))["engine"] == "vllm"

        await until(found_out)
        for scene in scenes.demo_scenes():
            reply = await gateway.post(chat("x", scene.question, scene.png).body)
            answer = reply.json()
            assert answer["choices"][0]["message"]["content"] == scene.answer
            text_only = await gateway.post(chat("x", scene.question).body)
            image_tokens = answer["usage"]["prompt_tokens"] - text_only.json()["usage"]["prompt_tokens"]
            story = await gateway.story(reply.headers["x-request-id"])
            assert story["demand"]["image_tokens"] == image_tokens
        # vLLM rounds halves to even, where llama.cpp rounds them up.
        odd = await gateway.post(chat("x", "What color is the circle?", scenes.picture((), 182, 270)).body)
        story = await gateway.story(odd.headers["x-request-id"])
        assert (story["demand"]["image_tokens"], odd.json()["usage"]["prompt_tokens"]) == (62, 62 + 14)


async def test_clips_are_priced_by_the_models_own_files(engine):
    async with gateway_before(engine, family="", preprocessor_config=str(WEIGHTS)) as gateway:

        async def found_out():
            return (await seen(gateway))["engine"] == "vllm"

        await until(found_out)
        text_only = (await gateway.post(chat("x", "x").body)).json()["usage"]["prompt_tokens"]
        for clip in sorted(CASES.glob("p11_*.mp4")):
            data = base64.b64encode(clip.read_bytes()).decode()
            url = {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{data}"}}
            body = chat("x", "x").body
            body["messages"][0]["content"] = [{"type": "text", "text": "x"}, url]
            reply = await gateway.post(body)
            demand = (await gateway.story(reply.headers["x-request-id"]))["demand"]
            counted = reply.json()["usage"]["prompt_tokens"] - text_only
            assert (demand["video_tokens"], demand["exact"]) == (counted, True), clip.name


async def test_streams_are_metered_and_aliases_restored(engine):
    scene = scenes.demo_scenes()[0]
    async with gateway_before(engine) as gateway:
        asked = chat("x", scene.question, scene.png, model="gpt-4o").body
        reply = await gateway.post(asked | {"stream": True})
        assert b'"model":"gpt-4o"' in reply.body
        assert b'"usage":{' not in reply.body
        assert reply.body.endswith(b"data: [DONE]\n\n")
        story = await gateway.story(reply.headers["x-request-id"])
        assert story["outcome"]["tokens_reported"]
        assert story["outcome"]["ttft_ms"] > 0


async def test_anthropic_messages_pass(engine):
    async with gateway_before(engine) as gateway:
        body = {"model": "gpt-4o", "max_tokens": 8, "messages": [{"role": "user", "content": "hello"}]}
        reply = await gateway.post(body, "/v1/messages")
        assert reply.status == 200, reply.body
        assert (reply.json()["type"], reply.json()["model"]) == ("message", "gpt-4o")
        streamed = await gateway.post(body | {"stream": True}, "/v1/messages")
        assert b"event: message_stop" in streamed.body


async def test_a_client_that_leaves_stops_the_engine_and_the_scrape_shows_the_load(engine):
    async with gateway_before(engine) as gateway:
        # The model ends its answer at once and is made to go on, without words: the client leaves before any content.
        endless = chat("x", "hello", max_tokens=1900).body | {"stream": True, "ignore_eos": True}

        async def runs(count):
            load = (await seen(gateway))["seen"]
            return load is not None and load["running"] == count

        asked = asyncio.create_task(gateway.post(endless))
        await until(lambda: runs(1))
        asked.cancel()
        await until(lambda: runs(0), seconds=3)
        await gateway.settled()
