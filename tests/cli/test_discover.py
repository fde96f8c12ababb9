"""Engines are asked what they are, waited for, and named when they never answer."""

import asyncio

import pytest
from aiohttp import web

from forebay.cli import discover
from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.testing.engines import launch
from forebay.testing.modelled import ModelledEngine


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(discover, "PAUSE_SECONDS", 0.02)


@pytest.fixture
async def engine():
    """Start an HTTP server that answers every path as told."""
    runners = []

    async def start(answer):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        runners.append(runner)
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    yield start
    for runner in runners:
        await runner.cleanup()


async def test_engines_of_one_model_become_one_pool_in_the_order_given():
    async with ModelledEngine("a") as first, ModelledEngine("b") as other, ModelledEngine("a") as second:
        pools = await discover.pools_behind([first.url, other.url, f"{second.url}/"], "round-robin")
    assert pools == [
        {
            "model": "a",
            "profile": "round-robin",
            "endpoints": [{"url": first.url, "engine": "vllm"}, {"url": second.url, "engine": "vllm"}],
        },
        {"model": "b", "profile": "round-robin", "endpoints": [{"url": other.url, "engine": "vllm"}]},
    ]


async def test_models_beside_the_first_are_named_as_not_served(engine, capsys):
    async def three(_request):
        return web.json_response({"object": "list", "data": [{"id": name} for name in ("a", "b", "c")]})

    url = await engine(three)
    (pool,) = await discover.pools_behind([url], "multimodal")
    assert pool["model"] == "a"
    shown = capsys.readouterr().err
    assert f"{url} also has b, c, not served here beside a: write a configuration file" in shown


async def test_an_engine_that_comes_late_is_waited_for(capsys):
    port = launch.free_port()
    url = f"http://127.0.0.1:{port}"
    waiting = asyncio.create_task(discover.pools_behind([url], "multimodal"))
    while "waiting" not in (shown := capsys.readouterr().err):
        await asyncio.sleep(0.01)
    async with ModelledEngine("late", port=port):
        (pool,) = await waiting
    assert pool["model"] == "late"
    assert shown.count(f"forebay: waiting for the engine at {url} (Cannot connect") == 1


async def test_an_address_where_nothing_answers_is_named():
    url = f"http://127.0.0.1:{launch.free_port()}"
    with pytest.raises(ConfigError, match=f"{url}: no engine has answered for 0 s"):
        await discover.pools_behind([url], "multimodal", patience_seconds=0.1)


async def test_an_engine_without_a_model_yet_is_no_engine_yet(engine):
    async def empty(_request):
        return web.json_response({"object": "list", "data": []})

    url = await engine(empty)
    with pytest.raises(ConfigError, match="no engine has answered"):
        await discover.pools_behind([url], "multimodal", patience_seconds=0.1)


async def test_an_engine_that_wants_a_key_needs_a_file(engine):
    async def refuse(_request):
        return web.json_response({"error": "no key"}, status=401)

    url = await engine(refuse)
    with pytest.raises(ConfigError, match="api_key_env"):
        await discover.pools_behind([url], "multimodal", patience_seconds=0.1)


async def test_an_engine_below_v3_is_written_with_its_base(engine):
    async def model_server(request):
        if request.path == "/v2":
            return web.json_response({"name": "OpenVINO Model Server", "version": "2026.0"})
        if request.path == "/v3/models":
            return web.json_response({"data": [{"id": "m", "owned_by": "OVMS"}]})
        return web.Response(status=404)

    url = await engine(model_server)
    for given in (url, f"{url}/v3"):
        (pool,) = await discover.pools_behind([given], "multimodal")
        assert pool["endpoints"] == [{"url": f"{url}/v3", "engine": "openvino"}]


async def test_a_triton_without_its_openai_frontend_is_refused_with_the_cure(engine):
    async def triton(request):
        if request.path == "/v2":
            return web.json_response({"name": "triton", "version": "2.51.0"})
        if request.path == "/v2/models/stats":
            return web.json_response({"model_stats": [{"name": "m", "version": "1"}]})
        return web.Response(status=404)

    url = await engine(triton)
    with pytest.raises(ConfigError, match="start Triton's OpenAI frontend"):
        await discover.pools_behind([url], "multimodal")


async def test_an_engine_at_a_unix_socket(tmp_path):
    async def models(_request):
        return web.json_response({"data": [{"id": "m", "object": "model", "owned_by": "vllm"}]})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "e.sock")).start()
    (pool,) = await discover.pools_behind([f"unix://{tmp_path}/e.sock"], "multimodal")
    await runner.cleanup()
    (endpoint,) = assemble(Document.of({"pools": [pool]}, "test")).endpoints()
    assert (pool["model"], endpoint.name) == ("m", f"unix:{tmp_path}/e.sock")
