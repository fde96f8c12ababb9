"""Ways in and out of a gateway of several processes: what one supervisor finds out, all workers live by."""

import asyncio

import aiohttp

from forebay.fleet.discovery import resolver
from forebay.testing.live import LiveGateway

from .elsewhere import Authority, Elsewhere
from .test_admin_and_drain import ok
from .words import CHAT, chat, eventually

PATIENCE = 30.0


async def ask(url, context, count):
    """So many requests, each over a connection of its own."""

    async def once(session):
        async with session.post(url + CHAT, json=chat(), ssl=context) as reply:
            return reply.status

    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        return await asyncio.gather(*(once(session) for _ in range(count)))


async def test_p31_all_workers_follow_a_name_and_show_the_new_certificate(monkeypatch, tmp_path):
    names = {"eng.test": ("127.0.0.1",)}

    async def resolve(host):
        return names[host]

    monkeypatch.setattr(resolver, "resolve", resolve)  # here alone: the workers are told
    authority = Authority(tmp_path)
    cert, key = authority.pair("127.0.0.1")
    settings = {
        "workers": 2,
        "tls": {"cert_file": cert, "key_file": key},
        "eyes": {"names_seconds": 0.02, "scrape_seconds": 0.02, "health_seconds": 0.02},
    }
    async with Elsewhere(ok) as old, Elsewhere(ok, "127.0.0.2", old.port) as new:
        pools = [{"model": "m", "endpoints": [{"url": f"http://eng.test:{old.port}", "engine": "vllm"}]}]
        async with LiveGateway(pools=pools, **settings) as gateway:
            url = gateway.supervisor.urls()[0]
            assert url.startswith("https://127.0.0.1:")
            assert set(await ask(url, authority.client(), 8)) == {200}
            assert (len(old.received), len(new.received)) == (8, 0)
            names["eng.test"] = ("127.0.0.2",)
            await eventually(lambda: not old._tasks, PATIENCE)  # the eyes', and what both workers had kept
            async with asyncio.timeout(PATIENCE):
                while True:
                    before = len(old.received)
                    assert set(await ask(url, authority.client(), 8)) == {200}
                    if len(old.received) == before:
                        break
            assert len(new.received) >= 8
            stranger = Authority(tmp_path)  # whose certificates nobody has trusted before
            stranger.pair("127.0.0.1")
            assert (await gateway.reload()).status == 200
            version = gateway.supervisor.assembly.plan.version
            await eventually(
                lambda: {hand.version for hand in gateway.supervisor.crew.hands} == {version}, PATIENCE
            )
            assert set(await ask(url, stranger.client(), 8)) == {200}
