"""Further APIs through the gateway, with unmodified SDK clients before it and real engines behind it."""

import asyncio

import anthropic
import openai
import pytest

from forebay.testing import showcase
from forebay.testing.engines import launch, scenes

pytestmark = pytest.mark.engines


@pytest.fixture
async def client(gateway):
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0) as ours:
        yield ours


@pytest.fixture
def asked(data_url):
    """An input that asks a scene's question about its picture."""

    def items(scene):
        picture = {"type": "input_image", "image_url": data_url(scene.png), "detail": "auto"}
        return [{"role": "user", "content": [picture, {"type": "input_text", "text": scene.question}]}]

    return items


@pytest.mark.parametrize("scene", scenes.demo_scenes(), ids=lambda scene: scene.name)
async def test_openai_responses_see_a_picture(client, gateway, asked, scene):
    answer = await client.responses.create(
        model=showcase.ALIAS,
        input=asked(scene),
        temperature=0,
        extra_headers={"x-request-id": scene.name.replace(" ", "-")},
    )
    assert answer.output_text.strip() == scene.answer
    assert answer.model == showcase.ALIAS
    assert answer.id.startswith("resp_")
    story = await gateway.story(scene.name.replace(" ", "-"))
    # The engine's count, and ours of the picture, which is exact.
    assert story["outcome"]["prompt_tokens"] == answer.usage.input_tokens
    assert 0 < story["demand"]["image_tokens"] < answer.usage.input_tokens


async def test_openai_responses_stream(client, asked):
    scene = scenes.demo_scenes()[0]
    kinds, text, ids = [], "", set()
    stream = await client.responses.create(
        model=showcase.ALIAS, input=asked(scene), temperature=0, stream=True
    )
    async for event in stream:
        kinds.append(event.type)
        text += event.delta if event.type == "response.output_text.delta" else ""
        if hasattr(event, "response"):
            ids.add(event.response.id)
            assert event.response.model in {showcase.ALIAS, None, ""}
    assert text.strip() == scene.answer
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert len(ids) == 1


async def test_a_response_that_its_engine_does_not_keep_is_the_engines_404(client):
    answer = await client.responses.create(model=showcase.ALIAS, input="hello", max_output_tokens=2)
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(answer.id)
    with pytest.raises(openai.NotFoundError) as caught:
        await client.responses.retrieve("resp_of_nobody")
    assert caught.value.code == "response_not_found"


async def test_anthropic_counts_tokens(gateway):
    messages = [{"role": "user", "content": "hello there"}]
    async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="none", max_retries=0) as client:
        counted = await client.messages.count_tokens(model=showcase.ALIAS, messages=messages)
        asked = await client.messages.create(model=showcase.ALIAS, messages=messages, max_tokens=1)
    usage = asked.usage
    assert counted.input_tokens == usage.input_tokens + (usage.cache_read_input_tokens or 0)


async def test_a_sound_is_transcribed(client, gateway):
    sound = ("tone.wav", scenes.tone(2.0))
    answer = await client.audio.transcriptions.create(
        model=launch.TINY_AUDIO, file=sound, extra_headers={"x-request-id": "heard"}
    )
    assert isinstance(answer.text, str)  # the model is random: its words mean nothing
    demand = (await gateway.story("heard"))["demand"]
    assert (demand["audio_tokens"] > 0, demand["exact"]) == (True, True)


async def test_tokens_of_a_text_and_back(gateway):
    got = await gateway.post({"model": showcase.ALIAS, "content": "hello there"}, "/tokenize")
    tokens = got.json()["tokens"]
    assert tokens
    got = await gateway.post({"model": showcase.ALIAS, "tokens": tokens}, "/detokenize")
    assert got.json()["content"].strip() == "hello there"


async def test_what_no_engine_of_the_model_serves_is_refused_before_any_is_asked(gateway):
    def rows():
        return [row for row in gateway.station.rows() if row.endpoint.engine == "llama.cpp"]

    llamas = rows()
    async with asyncio.timeout(30):
        while not all(row.view and row.view.abilities for row in llamas):
            await asyncio.sleep(0.01)
            llamas = rows()
    got = await gateway.post({"model": showcase.ALIAS, "query": "a", "documents": ["b"]}, "/v1/rerank")
    assert (got.status, got.error()["code"]) == (404, "api_not_served")
    assert "rerank" in got.error()["message"]
