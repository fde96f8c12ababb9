"""Engines whose OpenAI API is not below /v1: asked and served where it is."""

import asyncio

import pytest
from aiohttp import web

from forebay.testing.asks import chat
from forebay.testing.live import LiveGateway


@pytest.fixture
async def model_server():
    """A fake of OpenVINO's model server: only the paths and forms that its documentation names, and no model."""

    async def models(_request):
        listed = [{"id": "qwen3-vl", "object": "model", "created": 0, "owned_by": "OVMS"}]
        return web.json_response({"object": "list", "data": listed})

    async def answer(request):
        asked = await request.json()
        message = {"role": "assistant", "content": f"I am {asked['model']}"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
        return web.json_response({"object": "chat.completion", "choices": [choice], "usage": usage})

    async def ready(_request):
        return web.Response()

    async def metrics(_request):
        return web.Response(text='ovms_current_graphs{name="qwen3-vl"} 2\n')

    app = web.Application()
    app.router.add_get("/v2/health/ready", ready)
    app.router.add_get("/v3/models", models)
    app.router.add_get("/metrics", metrics)
    app.router.add_post("/v3/chat/completions", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def before(url, **settings):
    pool = {"model": "qwen3-vl", "endpoints": [{"url": url, **settings}]}
    return LiveGateway(pools=[pool], eyes={"scrape_seconds": 0.05})


async def seen(gateway, holds):
    async with asyncio.timeout(30):
        while True:
            (row,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
            if row["seen"] is not None and holds(row["seen"]):
                return row
            await asyncio.sleep(0.01)


async def test_an_engine_below_v3_is_found_out_seen_and_served(model_server):
    async with before(model_server + "/v3") as gateway:
        row = await seen(gateway, lambda view: view["running"] == 2.0)
        assert (row["engine"], row["seen"]["models"]) == ("openvino", ["qwen3-vl"])
        assert (row["url"], row["name"]) == (f"{model_server}/v3", f"{model_server[7:]}/v3")
        reply = await gateway.post(chat("x", "hello", model="qwen3-vl").body)
        assert reply.json()["choices"][0]["message"]["content"] == "I am qwen3-vl"
        drained = await gateway.session.post(
            f"{gateway.admin_url}/forebay/endpoints/{model_server[7:]}/v3/drain"
        )
        assert drained.status == 200


async def test_without_the_base_it_takes_no_request_and_the_operator_is_told(model_server, caplog):
    async with before(model_server, engine="openvino") as gateway:
        await seen(gateway, lambda view: view["models"] == [])
        reply = await gateway.post(chat("x", "hello", model="qwen3-vl").body)
        assert reply.status == 503
    assert "write its url as http://HOST:PORT/v3" in caplog.text
