"""Clients that leave: their engines are told at once, and nothing of them is left."""

import asyncio

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import (
    CHUNKED,
    FOR_EVER,
    Client,
    chat,
    chunk,
    eventually,
    piece,
    serving,
)

ASK = chat(stream=True)


class TestP18ClientsThatLeave:
    # What is promised is 0.5; a machine that is busy with other tests takes longer, and no clock of the gateway is as short.
    WITHIN_SECONDS = 5.0

    async def left(self, gateway, engine, name):
        """At once the engine's connection is closed, and nothing is open any more."""
        async with asyncio.timeout(self.WITHIN_SECONDS):
            await eventually(lambda: engine.closed_early == 1 and not engine.busy)
            await gateway.settled()
        return (await gateway.story(name))["outcome"]

    @pytest.mark.parametrize("streamed", [True, False], ids=["a-stream", "b-whole"])
    async def test_p18_before_the_first_token(self, streamed):
        async with (
            ScriptedEngine(lambda _: [FOR_EVER]) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(chat(stream=streamed), headers="x-request-id: p18\r\n")
            await eventually(lambda: engine.busy)
            assert gateway.in_flight() == 1
            client.leave()
            outcome = await self.left(gateway, engine, "p18")
            assert (outcome["ending"], outcome["reason"]) == ("cancelled", "client-cancelled")
            endpoint = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"][0]
            assert endpoint["believed"]["usable"] is True
        (line,) = gateway.lines()
        assert (line["status"], line["ending"]) == (499, "cancelled")

    async def test_p18_a_half_closed_client_has_left_too(self):
        async with (
            ScriptedEngine(lambda _: [FOR_EVER]) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK, headers="x-request-id: p18\r\n")
            await eventually(lambda: engine.busy)
            client.writer.write_eof()
            assert (await self.left(gateway, engine, "p18"))["ending"] == "cancelled"

    async def test_p18_c_while_it_waits_in_the_queue(self):
        async with ScriptedEngine(lambda _: [FOR_EVER]) as engine:
            pools = serving()(engine)
            pools[0]["endpoints"][0]["max_in_flight"] = 1
            async with (
                LiveGateway(pools=pools) as gateway,
                Client.of(gateway.url) as first,
                Client.of(gateway.url) as second,
            ):
                first.ask(ASK, headers="x-request-id: one\r\n")
                await eventually(lambda: engine.busy)
                second.ask(ASK, headers="x-request-id: two\r\n")
                await eventually(lambda: len(gateway.station.gateway.exchanges) == 2)
                second.leave()
                await eventually(lambda: len(gateway.station.gateway.exchanges) == 1)
                first.leave()
                await self.left(gateway, engine, "one")
                assert len(engine.received) == 1
                outcome = (await gateway.story("two"))["outcome"]
                assert (outcome["ending"], outcome["tries"]) == ("cancelled", 0)

    async def test_p18_d_in_the_middle_of_a_stream(self):
        script = [CHUNKED, *(piece(chunk(content=f"w{n}")) for n in range(3)), FOR_EVER]
        async with (
            ScriptedEngine(lambda _: script) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(ASK, headers="x-request-id: p18\r\n")
            await client.until(b"w2")
            client.leave()
            outcome = await self.left(gateway, engine, "p18")
            assert (outcome["ending"], outcome["completion_tokens"]) == ("cancelled", 3)
        (line,) = gateway.lines()
        assert (line["status"], line["completion_tokens"]) == (200, 3)
