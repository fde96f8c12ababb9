"""Calls that are paused, closed, or heard by a sink that fails."""

import asyncio

import pytest

from forebay.domain.outcome import FailureKind

REQUEST = b"POST /v1/x HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_call_may_be_closed_while_it_connects(upstreams, engine):
    engine.replies(OK)
    ear = engine.ear()
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    handle.close()
    handle.close()
    handle.pause()
    handle.resume()
    await asyncio.sleep(0.05)
    assert ear.heard == []


async def test_p18_closing_a_call_cuts_the_connection_at_once(upstreams, engine):
    seen = asyncio.Event()

    async def script(engine, reader, writer):
        await engine.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        assert await reader.read() == b""
        seen.set()

    engine.script = script
    ear = engine.ear()
    heard = asyncio.Event()
    ear.act = lambda what: heard.set() if what == "data" else None
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    async with asyncio.timeout(30):
        await heard.wait()
    handle.close()
    async with asyncio.timeout(30):
        await seen.wait()
    await asyncio.sleep(0.02)
    assert ear.names == ["connected", "head", "data"]


@pytest.mark.parametrize("during", ["head", "data"])
async def test_a_sink_may_close_its_call_from_within(upstreams, engine, during):
    engine.replies(OK)
    ear = engine.ear()
    handle = None
    heard = asyncio.Event()

    def act(what):
        if what == during:
            handle.close()
            heard.set()

    ear.act = act
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    async with asyncio.timeout(30):
        await heard.wait()
    await asyncio.sleep(0.02)
    assert ear.names[-1] == during
    assert upstreams.idle_connections(engine.url) == 0


async def test_back_pressure_stops_the_engine(upstreams, engine):
    sent = []

    async def script(engine, reader, writer):
        await engine.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 40000000\r\n\r\n")
        for _ in range(400):
            writer.write(bytes(100_000))
            await writer.drain()
            sent.append(100_000)
        await reader.read()

    engine.script = script
    ear = engine.ear()
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    handle.pause()
    handle.pause()
    await asyncio.sleep(0.15)
    assert ear.names == ["connected"]
    assert sum(sent) < 40_000_000
    handle.resume()
    handle.resume()
    await ear.end()
    assert len(ear.body) == 40_000_000
    assert ear.names[-1] == "end"


async def test_a_paused_call_leaves_a_connection_that_reads(upstreams, engine):
    engine.replies(OK, OK)
    ear = engine.ear()
    handle = None
    ear.act = lambda what: handle.pause() if what == "data" else None
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    await ear.end()
    assert (await engine.call(upstreams)).names[-1] == "end"
    assert engine.connections == 1


@pytest.mark.parametrize("during", ["head", "data"])
async def test_a_sink_that_fails_is_logged_and_its_call_lost(upstreams, engine, during, caplog):
    engine.replies(OK)
    ear = engine.ear()

    def act(what):
        if what == during:
            raise RuntimeError("broken")

    ear.act = act
    upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    await ear.end()
    assert ear.lost == [FailureKind.PROTOCOL]
    assert "RuntimeError: broken" in caplog.text


async def test_a_sink_that_fails_at_the_end_is_logged(upstreams, engine, caplog):
    engine.replies(OK)
    ear = engine.ear()

    def act(what):
        if what == "end":
            raise RuntimeError("broken")

    ear.act = act
    upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    await ear.end()
    assert ear.names[-1] == "end"
    assert "RuntimeError: broken" in caplog.text
