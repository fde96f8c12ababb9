"""A gateway on a host whose devices a (fake) tool reads."""

import asyncio

import pytest
from msgspec.structs import replace

from forebay.testing.asks import chat
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine

TABLE = "index, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%]\n0, Fake, 81559 MiB, 4 MiB, 37 %\n"


def put_tool(folder, monkeypatch, line):
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{line}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def gateway(url="http://127.0.0.1:9", **settings):
    pool = {"model": "m", "endpoints": [{"url": url, "engine": "vllm", "devices": [0]}]}
    return LiveGateway(pools=[pool], hardware={"probe": "nvidia-smi", "interval_seconds": 0.01}, **settings)


async def page_when(live, holds):
    async with asyncio.timeout(30):
        while not holds(page := (await live.get("/forebay/endpoints", admin=True)).json()):
            await asyncio.sleep(0.01)
    return page


@pytest.mark.parametrize("workers", [1, 2])
async def test_what_the_tool_tells_is_shown_to_operators(tmp_path, monkeypatch, workers):
    text = TABLE.replace("\n", "\\n")
    put_tool(tmp_path, monkeypatch, f"printf '{text.replace('%', '%%')}'")
    async with gateway(workers=workers) as live:
        page = await page_when(live, lambda page: page["hardware"] and page["endpoints"])
        (device,) = page["endpoints"][0]["hardware"]["devices"]
        assert (device["utilisation"], device["memory_used_bytes"]) == (0.37, 4 * 1024 * 1024)
        metrics = (await live.get("/metrics", admin=True)).body.decode()
        assert 'forebay_device_utilisation_ratio{device="0",name="Fake"} 0.37' in metrics


async def test_p33_a_tool_that_fails_is_told_once_and_no_endpoint_is_ejected(tmp_path, monkeypatch, caplog):
    put_tool(
        tmp_path, monkeypatch, "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18"
    )
    async with ModelledEngine("m") as engine, gateway(engine.url) as live:
        async with asyncio.timeout(30):
            while "hardware:" not in caplog.text:
                await asyncio.sleep(0.01)
        page = (await live.get("/forebay/endpoints", admin=True)).json()
        assert (page["hardware"], page["endpoints"][0]["hardware"]) == (None, None)
        assert (await live.post(chat("x", "hello", model="m").body)).status == 200
    assert caplog.text.count("hardware:") == 1


async def test_another_plan_may_switch_the_probe_off(tmp_path, monkeypatch):
    put_tool(tmp_path, monkeypatch, "printf 'index, utilization.gpu [%%]\\n0, 5 %%\\n'")
    async with gateway() as live:
        await page_when(live, lambda page: page["hardware"])
        oversight = live.station._oversight
        assembly = live.station.assembly
        off = replace(assembly.file.hardware, probe="off")
        oversight.adopt(replace(assembly, file=replace(assembly.file, hardware=off)))
        await page_when(live, lambda page: page["hardware"] is None)
