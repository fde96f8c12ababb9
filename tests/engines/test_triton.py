"""A real Triton seen through our eyes: found out, its models and its queue read, and sent no request that it cannot take."""

import asyncio
import json

import aiohttp
import pytest

from forebay.testing.asks import chat
from forebay.testing.engines import launch, triton
from forebay.testing.live import LiveGateway

WHY_NOT = triton.triton_available()
pytestmark = [
    pytest.mark.triton,
    pytest.mark.timeout(200),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"TRITON NOT TESTED: {WHY_NOT}"),
]

REQUESTS = 10


@pytest.fixture(scope="module")
def ports():
    return launch.free_port(), launch.free_port()


@pytest.fixture(scope="module")
def engine(ports, tmp_path_factory):
    process = launch.EngineProcess(triton.triton(*ports, batch_seconds=0.3), tmp_path_factory.mktemp("logs"))
    process.start(triton.START_SECONDS)
    yield process
    process.stop(grace_seconds=15)


def gateway_before(process, metrics_port, **declared):
    endpoint = {"url": process.url, "metrics_port": metrics_port, **declared}
    pool = {"model": triton.MODEL, "endpoints": [endpoint]}
    return LiveGateway(pools=[pool], eyes={"scrape_seconds": 0.05})


async def view(gateway):
    (endpoint,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
    return endpoint


async def until(gateway, holds):
    async with asyncio.timeout(30):
        while True:
            row = await view(gateway)
            if row["seen"] is not None and holds(row["seen"]):
                return row
            await asyncio.sleep(0.02)


async def infer(session, engine, value):
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [value, value]}
    path = f"{engine.url}/v2/models/{triton.MODEL}/infer"
    async with session.post(path, data=json.dumps({"inputs": [tensor]})) as reply:
        return (await reply.json(content_type=None))["outputs"][0]["data"]


async def test_triton_is_found_out_and_its_models_are_listed(engine, ports):
    async with gateway_before(engine, ports[1]) as gateway:
        row = await until(gateway, lambda seen: seen["waiting"] is not None)
    assert row["engine"] == "triton"
    seen = row["seen"]
    assert (seen["reachable"], seen["models"], seen["abilities"]) == (True, [triton.MODEL], [])
    assert (seen["waiting"], seen["running"], seen["kv_usage"]) == (0.0, None, None)


async def test_who_waits_is_seen_and_then_seen_no_more(engine, ports):
    async with (
        gateway_before(engine, ports[1], engine="triton") as gateway,
        aiohttp.ClientSession() as session,
    ):
        await until(gateway, lambda seen: seen["waiting"] == 0.0)
        asked = [asyncio.create_task(infer(session, engine, n)) for n in range(REQUESTS)]
        crowded = await until(gateway, lambda seen: seen["waiting"])
        assert 0 < crowded["seen"]["waiting"] <= REQUESTS
        assert await asyncio.gather(*asked) == [[2.0 * n, 2.0 * n] for n in range(REQUESTS)]
        await until(gateway, lambda seen: seen["waiting"] == 0.0)


async def test_a_chat_is_not_sent_to_a_triton_that_speaks_kserve_only(engine, ports, caplog):
    async with gateway_before(engine, ports[1]) as gateway:
        await until(gateway, lambda seen: seen["abilities"] == [])
        reply = await gateway.post(chat("x", "hello", model=triton.MODEL).body)
        assert (reply.status, reply.json()["error"]["code"]) == (404, "api_not_served")
        await gateway.settled()
    assert "start Triton's OpenAI frontend" in caplog.text
