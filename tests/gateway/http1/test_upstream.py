"""Connections to engines: opened, kept, found stale, given up."""

import asyncio
import socket

import pytest

from forebay.domain.outcome import FailureKind
from forebay.gateway.http1.upstream import Upstreams, address

REQUEST = b"POST /v1/x HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_connection_that_the_engine_closes_is_not_handed_out(upstreams, engine):
    async def close(engine, reader, writer):
        await asyncio.sleep(0.02)

    engine.replies(OK, then=close)
    await engine.call(upstreams)
    await asyncio.sleep(0.06)
    assert upstreams.idle_connections(engine.url) == 0
    assert (await engine.call(upstreams)).names[-1] == "end"
    assert engine.connections == 2


def closes_on_second_request(with_bytes=b""):
    async def script(engine, reader, writer):
        await engine.request(reader)
        writer.write(OK)
        if engine.connections == 1:
            await reader.readexactly(1)
            writer.write(with_bytes)
            await writer.drain()
            if not with_bytes:
                writer.transport.abort()
        else:
            await reader.read()

    return script


async def test_a_stale_connection_is_found_out_and_the_request_sent_again_once(upstreams, engine):
    engine.script = closes_on_second_request()
    await engine.call(upstreams)
    ear = await engine.call(upstreams)
    assert ear.names == ["connected", "connecting", "connected", "head", "data", "end"]
    assert engine.connections == 2
    assert engine.heads == [REQUEST, REQUEST]


async def test_nothing_is_sent_again_once_a_byte_was_answered(upstreams, engine):
    engine.script = closes_on_second_request(b"H")
    await engine.call(upstreams)
    ear = await engine.call(upstreams)
    assert ear.lost == [FailureKind.RESET]
    assert engine.connections == 1


async def test_nothing_is_sent_a_third_time(upstreams, engine):
    async def script(engine, reader, writer):
        await engine.request(reader)
        if engine.connections == 1:
            writer.write(OK)
            await engine.request(reader)
        writer.transport.abort()

    engine.script = script
    await engine.call(upstreams)
    ear = await engine.call(upstreams)
    assert ear.lost == [FailureKind.RESET]
    assert engine.connections == 2


async def test_refused_connections_are_told(upstreams, engine):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    ear = engine.ear()
    upstreams.send(f"http://127.0.0.1:{port}", REQUEST, (b"hi",), ear)
    assert ear.heard == []  # never before send returns
    await ear.end()
    assert ear.lost == [FailureKind.CONNECT]


async def test_names_that_do_not_resolve_and_wrong_schemes_are_told(upstreams, engine):
    for url in ("http://no-such-name.invalid:1", "https://127.0.0.1:1"):
        ear = engine.ear()
        upstreams.send(url, REQUEST, (b"hi",), ear)
        assert (await ear.end()).lost == [FailureKind.CONNECT]


async def test_a_connection_that_never_comes_times_out(engine, monkeypatch):
    async def never(*_):
        await asyncio.sleep(60)

    monkeypatch.setattr("forebay.gateway.http1.upstream.open_connection", never)
    upstreams = Upstreams(asyncio.get_running_loop(), connect_timeout_seconds=0.02)
    ear = engine.ear()
    upstreams.send("http://127.0.0.1:1", REQUEST, (b"hi",), ear)
    await ear.end()
    assert ear.heard == [("lost", FailureKind.CONNECT, "no connection within 0.02 s")]
    upstreams.close()


async def test_idle_connections_are_bounded_and_expire(engine):
    upstreams = Upstreams(
        asyncio.get_running_loop(), connect_timeout_seconds=1.0, idle_seconds=0.1, max_idle_per_endpoint=2
    )
    engine.replies(OK, OK)
    await asyncio.gather(*(engine.call(upstreams) for _ in range(3)))
    assert engine.connections == 3
    assert upstreams.idle_connections(engine.url) == 2
    await asyncio.sleep(0.4)
    assert upstreams.idle_connections(engine.url) == 0
    await engine.call(upstreams)
    assert engine.connections == 4
    upstreams.close()
    await asyncio.sleep(0.02)


async def test_an_endpoint_may_want_fewer_kept(engine):
    upstreams = Upstreams(asyncio.get_running_loop(), connect_timeout_seconds=1.0)
    upstreams.keep_at_most(engine.url, 1)
    engine.replies(OK, OK)
    await asyncio.gather(*(engine.call(upstreams) for _ in range(3)))
    assert upstreams.idle_connections(engine.url) == 1
    upstreams.close()
    await asyncio.sleep(0.02)


async def test_an_expired_connection_is_not_handed_out(engine):
    upstreams = Upstreams(asyncio.get_running_loop(), connect_timeout_seconds=1.0, idle_seconds=10.0)
    engine.replies(OK, OK)
    await engine.call(upstreams)
    upstreams._idle[engine.url][0].idle_since -= 11.0
    await engine.call(upstreams)
    assert engine.connections == 2
    upstreams.close()
    await asyncio.sleep(0.02)


async def test_close_ends_every_call(upstreams, engine):
    engine.replies(OK, then=lambda engine, reader, writer: reader.read())
    await engine.call(upstreams)
    busy, connecting = engine.ear(), engine.ear()
    upstreams.send(engine.url, REQUEST, (b"hi",), busy)
    upstreams.send(engine.url, REQUEST, (b"hi",), connecting)
    upstreams.close()
    await busy.end()
    assert busy.lost == [FailureKind.RESET]
    await asyncio.sleep(0.02)
    assert connecting.heard == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://10.0.0.1:8000", ("10.0.0.1", 8000)),
        ("http://engine", ("engine", 80)),
        ("http://[::1]:8000/", ("::1", 8000)),
        ("https://engine", ("engine", 443)),
    ],
)
def test_addresses(url, expected):
    assert address(url) == expected


def test_addresses_that_cannot_be():
    for url in ("ftp://x", "x:80", "http://", "unix:/x"):
        with pytest.raises(ValueError, match="http://host:port"):
            address(url)
