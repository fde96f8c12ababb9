"""Clients that read slowly hold back their engine, and nobody else."""

import asyncio
import tracemalloc

from forebay.testing.clock import VirtualClock
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import (
    CHUNKED,
    DONE,
    Client,
    chat,
    chunk,
    eventually,
    piece,
    role,
)

ASK = chat(stream=True)


def serving(model="m", **more):
    """Pools of one model under the names of the cases' files, which speak of the engine's model as `eng`."""

    def of(*engines):
        endpoints = [{"url": engine.url, "engine": "vllm"} for engine in engines]
        return [{"model": model, "family": "qwen2-vl", "endpoints": endpoints, **more}]

    return of


class TestBackPressure:
    EVENT = chunk(content="y" * 8000)
    MIB = 1024 * 1024
    COUNT = 64 * MIB // len(EVENT)

    def script(self, sent):
        """64 MiB of stream; `sent` holds what has gone to the kernel."""

        def actions(_request):
            yield CHUNKED
            yield piece(role())
            for _ in range(self.COUNT):
                yield piece(self.EVENT)
                sent[0] += len(self.EVENT)
            yield piece(chunk(finish="stop") + DONE)
            yield b"0\r\n\r\n"

        return actions

    async def stalled(self, sent):
        """Wait until the engine gets no more out."""
        before = -1
        async with asyncio.timeout(30):
            while sent[0] != before:
                before = sent[0]
                await asyncio.sleep(0.2)

    async def test_a_client_that_does_not_read_stops_its_engine(self):
        sent = [0]
        async with (
            ScriptedEngine(self.script(sent)) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url, 65536) as client,
        ):
            tracemalloc.start()
            try:
                client.ask(ASK, headers="x-request-id: slow\r\n")
                await eventually(lambda: sent[0])
                await self.stalled(sent)
                held, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert 0 < sent[0] < 24 * self.MIB  # the kernel's buffers of three sockets
            assert held < 8 * self.MIB
            assert gateway.in_flight() == 1
            client.leave()
            await eventually(lambda: not engine.busy)
            await gateway.settled()
            assert (await gateway.story("slow"))["outcome"]["ending"] == "cancelled"

    async def test_a_client_that_reads_slowly_gets_every_byte(self):
        sent = [0]
        async with (
            ScriptedEngine(self.script(sent)) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url, 65536) as client,
        ):
            client.ask(ASK, headers="connection: close\r\n")
            await eventually(lambda: sent[0])
            await self.stalled(sent)  # and goes on from there
            await client.until(b"\r\n\r\n")
            got = 0
            async with asyncio.timeout(30):
                while data := await client.reader.read(1 << 20):
                    got += data.count(b"y")
            assert got == self.COUNT * 8000
            await gateway.settled()

    async def test_a_paused_stream_is_not_idle(self):
        """The idle clock stands while it is the client that does not read."""
        sent, clock = [0], VirtualClock()
        async with (
            ScriptedEngine(self.script(sent)) as engine,
            LiveGateway(pools=serving(timeouts={"idle_seconds": 5})(engine), clock=clock) as gateway,
            Client.of(gateway.url, 65536) as client,
        ):
            client.ask(ASK)
            await eventually(lambda: sent[0])
            await self.stalled(sent)
            clock.advance(seconds=6)
            gateway.station.gateway.sweep()
            assert gateway.in_flight() == 1
            client.leave()
            await gateway.settled()
