"""Further APIs of a real vLLM through the gateway: responses that it keeps, tokens counted, texts taken apart."""

import base64
from dataclasses import replace

import anthropic
import openai
import pytest

from forebay.testing.engines import launch, scenes, vllm_cpu
from forebay.testing.live import LiveGateway
from forebay.testing.showcase import TINYVLM_FAMILY

WHY_NOT = vllm_cpu.vllm_available()
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"VLLM NOT TESTED: {WHY_NOT}"),
]
SCENE = scenes.demo_scenes()[0]


@pytest.fixture(scope="module")
def keeper(tmp_path_factory):
    """One that keeps its responses: vLLM does when it is told to."""
    spec = vllm_cpu.vllm(launch.free_port(), name="vllm-keeper")
    spec = replace(spec, environment={**spec.environment, "VLLM_ENABLE_RESPONSES_API_STORE": "1"})
    process = launch.EngineProcess(spec, tmp_path_factory.mktemp("logs"))
    process.start(vllm_cpu.START_SECONDS)
    yield process
    process.stop(grace_seconds=15)


def gateway_before(engine):
    pool = {
        "model": launch.TINYVLM,
        "aliases": ["gpt-4o"],
        "family": TINYVLM_FAMILY,
        "endpoints": [{"url": engine.url, "engine": "vllm"}],
    }
    return LiveGateway(pools=[pool])


def openai_at(gateway):
    return openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0)


async def test_responses_are_made_gone_on_from_read_and_streamed(keeper):
    url = "data:image/png;base64," + base64.b64encode(SCENE.png).decode()
    picture = {"type": "input_image", "image_url": url, "detail": "auto"}
    asked = [{"role": "user", "content": [picture, {"type": "input_text", "text": SCENE.question}]}]
    async with gateway_before(keeper) as one, gateway_before(keeper) as other:
        async with openai_at(one) as client:
            first = await client.responses.create(
                model="gpt-4o",
                input=asked,
                temperature=0,
                max_output_tokens=16,
                extra_headers={"x-request-id": "v"},
            )
            assert first.output_text.strip() == SCENE.answer
            assert first.model == "gpt-4o"
            story = await one.story("v")
            assert story["outcome"]["prompt_tokens"] == first.usage.input_tokens
        async with openai_at(other) as client:
            assert (await client.responses.retrieve(first.id)).id == first.id
            again = await client.responses.create(
                model="gpt-4o", input="and?", previous_response_id=first.id, max_output_tokens=4
            )
            assert again.previous_response_id == first.id
            assert again.usage.input_tokens > first.usage.input_tokens
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(first.id[:-1] + "~")
            text, ids = "", set()
            stream = await client.responses.create(
                model="gpt-4o", input=asked, temperature=0, max_output_tokens=16, stream=True
            )
            async for event in stream:
                text += event.delta if event.type == "response.output_text.delta" else ""
                if hasattr(event, "response"):
                    ids.add(event.response.id)
            assert text.strip() == SCENE.answer
            (sealed,) = ids
            assert (await client.responses.retrieve(sealed)).id == sealed


async def test_tokens_are_counted_and_texts_taken_apart(keeper):
    messages = [{"role": "user", "content": "hello there"}]
    async with gateway_before(keeper) as gateway:
        async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="none", max_retries=0) as client:
            counted = await client.messages.count_tokens(model="gpt-4o", messages=messages)
        got = await gateway.post({"model": "gpt-4o", "messages": messages}, "/tokenize")
        assert counted.input_tokens == got.json()["count"]
        tokens = (await gateway.post({"model": "gpt-4o", "prompt": "hello there"}, "/tokenize")).json()[
            "tokens"
        ]
        got = await gateway.post({"model": "gpt-4o", "tokens": tokens}, "/detokenize")
        assert got.json()["prompt"].strip() == "hello there"


async def test_a_salt_is_taken_by_the_engine_as_it_is_made_here(keeper):
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 1,
        "cache_salt": "s",
    }
    async with gateway_before(keeper) as gateway:
        assert (await gateway.post(body)).status == 200
