"""The fake engine speaks enough of vLLM's API for every router that is measured."""

import asyncio
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from forebay.testing.bench import engine, wire
from forebay.testing.bench.connection import dial


async def ask(port, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next(
        int(line.partition(":")[2])
        for line in head.split("\r\n")
        if line.lower().startswith("content-length")
    )
    body = await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()
    return head.split(" ", 2)[1], body


async def get(port, path):
    return await ask(port, f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())


def post(body):
    return b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)


async def test_health_models_and_version(engine_port):
    assert await get(engine_port, "/health") == ("200", b"")
    _, models = await get(engine_port, "/v1/models?x=1")
    assert json.loads(models)["data"][0]["id"] == wire.MODEL
    _, version = await get(engine_port, "/version")
    assert "version" in json.loads(version)


async def test_unknown_path_and_bad_bodies(engine_port):
    assert (await get(engine_port, "/nothing"))[0] == "404"
    assert (await ask(engine_port, post(b"nope") + b"nope"))[0] == "400"
    assert (await ask(engine_port, b"not http at all\r\n\r\n"))[0] == "400"


async def test_metrics_parse_and_count_running_streams(engine_port):
    _, text = await get(engine_port, "/metrics")
    names = {family.name for family in text_string_to_metric_families(text.decode())}
    assert names == {"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"}
    assert (
        'vllm:num_requests_running{engine="0",model_name="bench-vl"} 3.0' in engine.metrics_text(3).decode()
    )


async def test_reply_and_stream_on_one_connection(engine_port):
    connection = await dial(engine_port)
    plain = b'{"messages":[{"role":"user","content":"hi"}]}'
    answer = await connection.send(post(plain), plain)
    assert answer == (200, wire.reply(wire.body_digest(plain), wire.content_digest(plain)))
    stream = b'{"stream":true,"max_tokens":3,"seed":1000,"stream_options":{"include_usage":true}}'
    answer = await connection.send(post(stream), stream)
    text = wire.StreamText(wire.body_digest(stream), wire.content_digest(stream), 3, usage=True)
    assert answer == (200, text.whole())
    burst = b'{"stream":true,"max_tokens":2}'
    answer = await connection.send(post(burst), burst)
    assert answer.body.endswith(b"data: [DONE]\n\n")
    connection.close()
    await asyncio.sleep(0.01)


async def test_a_stream_ends_with_its_connection(engine_port):
    connection = await dial(engine_port)
    body = b'{"stream":true,"max_tokens":9,"seed":60000000}'
    answer = connection.send(post(body), body)
    await connection.started
    assert b" 1.0" in (await get(engine_port, "/metrics"))[1]
    connection.close()
    with pytest.raises(ConnectionError):
        await answer
    await asyncio.sleep(0.02)
    assert b" 1.0" not in (await get(engine_port, "/metrics"))[1]
