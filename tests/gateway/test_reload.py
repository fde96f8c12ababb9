"""A new configuration while requests run: what changes, what is refused, and what nobody notices."""

import asyncio
import contextlib

import pytest

from forebay.config.schema import File
from forebay.gateway.plans import PINNED
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .test_admin_and_drain import ASK, Streaming, name_of, ok, pool
from .words import Client, chat, eventually


async def reloaded(gateway, **settings):
    """The answer to a reload that was taken over."""
    reply = await gateway.reload(**settings)
    assert reply.status == 200, reply.body
    return reply.json()


async def test_streams_run_through_a_reload_that_removes_their_endpoint():
    async with contextlib.AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(Streaming())
        joining = await stack.enter_async_context(ScriptedEngine(ok))
        gateway = await stack.enter_async_context(LiveGateway(pools=pool(leaving)))
        clients = [await stack.enter_async_context(Client.of(gateway.url)) for _ in range(4)]
        for client in clients:
            client.ask(ASK)
            await client.until(b"begun", 30)
        told = await reloaded(gateway, pools=pool(joining, profile="round-robin"))
        assert told == {
            "version": 2,
            "error": "",
            "added": [name_of(joining)],
            "removed": [name_of(leaving)],
            "needs_restart": [],
        }
        for _ in range(3):
            assert (await gateway.post(chat(), headers={"x-request-id": "new"})).status == 200
        assert (len(joining.received), len(leaving.received)) == (3, 4)
        story = await gateway.story("new")
        assert story["decisions"][0]["profile"] == "round-robin"
        leaving.go.set()
        for client in clients:
            assert b" ended" in await client.until(b"0\r\n\r\n", 30)
        await gateway.settled(30)
        assert [row.endpoint.name for row in gateway.station.rows()] == [name_of(joining)]


async def test_a_held_request_goes_to_an_endpoint_that_joins():
    async with (
        Streaming() as full,
        ScriptedEngine(ok) as joining,
        LiveGateway(pools=pool(full)) as gateway,
        Client.of(gateway.url) as client,
    ):
        limited = pool(full)
        limited[0]["endpoints"][0]["max_in_flight"] = 1
        await reloaded(gateway, pools=limited)
        client.ask(ASK)
        await client.until(b"begun", 30)
        held = asyncio.create_task(gateway.post(chat()))
        await eventually(lambda: len(gateway.station.gateway.exchanges) == 2, 30)
        both = pool(full, joining)
        both[0]["endpoints"][0]["max_in_flight"] = 1
        await reloaded(gateway, pools=both)
        assert (await held).status == 200
        full.go.set()
        await client.until(b"0\r\n\r\n", 30)
        await gateway.settled(30)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"pools": [{"model": "m", "endpoints": [{"url": "127.0.0.1:1"}]}]}, "write http://HOST:PORT"),
        ({"polls": []}, "did you mean `pools`?"),
        ({"keys_file": "/no/such/file"}, "cannot read /no/such/file"),
    ],
)
async def test_a_broken_file_leaves_the_old_plan_in_force_and_says_why(wrong, words, caplog):
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        sound = dict(gateway.data)
        reply = await gateway.reload(**wrong)
        assert (reply.status, reply.error()["code"]) == (422, "configuration_refused")
        assert words in reply.error()["message"]
        assert any("plan 1 stays in force" in line and words in line for line in caplog.messages)
        assert (await gateway.post(chat())).status == 200
        text = (await gateway.get("/metrics", admin=True)).body.decode()
        assert "forebay_reload_failures_total 1.0" in text
        assert "forebay_reload_last_good 0.0" in text
        gateway.data = sound
        assert (await reloaded(gateway))["version"] == 2
        text = (await gateway.get("/metrics", admin=True)).body.decode()
        assert "forebay_reload_last_good 1.0" in text
        assert "forebay_plan_version 2.0" in text


async def test_keys_and_limits_change_and_addresses_wait_for_a_restart(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("one")
    one, two = ({"authorization": f"Bearer {key}"} for key in ("one", "two"))
    settings = {"keys_file": str(keys), "inbound": {"max_body_bytes": 100_000}}
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), **settings) as gateway:
        long = chat("x" * 2000)
        assert (await gateway.post(long, headers=one)).status == 200
        keys.write_text("two")
        told = await reloaded(gateway, inbound={"max_body_bytes": 1000}, listen="127.0.0.1:1", seed=7)
        assert told["needs_restart"] == ["listen", "seed"]
        assert (await gateway.post(chat(), headers=one)).status == 401
        assert (await gateway.post(chat(), headers=two)).status == 200
        assert (await gateway.post(long, headers=two)).status == 413
        told = await reloaded(gateway, listen="127.0.0.1:0", seed=0)
        assert told["needs_restart"] == []


async def test_a_pool_may_go_and_come_under_load():
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        other = [{"model": "other", "endpoints": [{"url": engine.url, "engine": "vllm"}]}]
        await reloaded(gateway, pools=other)
        assert (await gateway.post(chat())).status == 404
        assert (await gateway.post(chat(model="other"))).status == 200
        await reloaded(gateway, pools=pool(engine))
        assert (await gateway.post(chat())).status == 200
        await gateway.settled(30)


async def test_engines_by_command_line_have_no_file_to_reload():
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        gateway.station.plans._read = None
        reply = await gateway.reload()
        assert reply.status == 422
        assert "no configuration file" in reply.error()["message"]


async def test_the_eyes_look_in_the_new_interval():
    async with ScriptedEngine(ok) as engine:
        rare = {"scrape_seconds": 600, "health_seconds": 600}
        async with LiveGateway(pools=pool(engine), eyes=rare) as gateway:
            await eventually(lambda: gateway.station.rows()[0].view, 30)
            first = gateway.station.rows()[0].view
            await reloaded(gateway, eyes={"scrape_seconds": 0.01, "health_seconds": 0.01})
            await eventually(lambda: gateway.station.rows()[0].view is not first, 30)


def test_every_setting_that_needs_a_restart_is_one():
    assert set(File.__struct_fields__) > PINNED
