"""Calls to engines that answer well, badly, late or not at all."""

import asyncio
import gzip
import socket
from pathlib import Path

import pytest
import pytest_asyncio

from forebay.domain.outcome import FailureKind
from forebay.gateway.http1.upstream import Upstreams, address

CASES = Path(__file__).parents[2] / "cases"
REQUEST = b"POST /v1/x HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Ear:
    """A sink that keeps what it hears."""

    def __init__(self):
        self.heard = []
        self.ended = asyncio.Event()
        self.act = lambda what: None

    def hear(self, what, *rest):
        self.heard.append((what, *rest))
        if what in {"end", "lost"}:
            self.ended.set()
        self.act(what)

    def on_connected(self):
        self.hear("connected")

    def on_head(self, status, headers):
        self.hear("head", status, headers)

    def on_data(self, data):
        self.hear("data", data)

    def on_end(self):
        self.hear("end")

    def on_lost(self, kind, detail):
        self.hear("lost", kind, detail)

    async def end(self):
        async with asyncio.timeout(5):
            await self.ended.wait()
        return self

    @property
    def names(self):
        return [what for what, *_ in self.heard]

    @property
    def body(self):
        return b"".join(rest[0] for what, *rest in self.heard if what == "data")

    @property
    def lost(self):
        return [rest[0] for what, *rest in self.heard if what == "lost"]


@pytest_asyncio.fixture
async def upstreams():
    upstreams = Upstreams(
        asyncio.get_running_loop(), connect_timeout_seconds=1.0, idle_seconds=2.0, max_idle_per_endpoint=4
    )
    yield upstreams
    upstreams.close()
    await asyncio.sleep(0.02)


def replies(*raw, then=None):
    """A script that answers each request of a connection with the next of these bytes."""

    async def script(engine, reader, writer):
        for reply in raw:
            await engine.request(reader)
            writer.write(reply)
            await writer.drain()
        if then is not None:
            await then(engine, reader, writer)
        else:
            await reader.read()

    return script


async def call(upstreams, engine, head=REQUEST, body=(b"hi",)):
    ear = Ear()
    upstreams.send(engine.url, head, body, ear)
    return await ear.end()


async def test_a_reply_is_told_in_order_and_the_connection_kept(upstreams, engine):
    engine.script = replies(OK, OK)
    first = await call(upstreams, engine)
    assert first.heard == [
        ("connected",),
        ("head", 200, [(b"content-length", b"2")]),
        ("data", b"ok"),
        ("end",),
    ]
    assert upstreams.idle_connections(engine.url) == 1
    second = await call(upstreams, engine)
    assert second.heard == first.heard
    assert engine.connections == 1
    assert engine.heads == [REQUEST, REQUEST]


async def test_large_bodies_are_sent_whole(upstreams, engine):
    body = bytes(range(256)) * 20_000
    got = []

    async def script(engine, reader, writer):
        got.append(await engine.request(reader))
        writer.write(OK)
        await reader.read()

    engine.script = script
    head = b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body)
    await call(upstreams, engine, head, (body[:100_000], memoryview(body)[100_000:]))
    assert got == [body]
    assert upstreams.idle_connections(engine.url) == 1


@pytest.mark.parametrize("at", range(1, 90, 3))
async def test_a_chunked_reply_may_be_cut_anywhere(upstreams, engine, at):
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b \r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nT: r\r\n\r\n"

    async def script(engine, reader, writer):
        await engine.request(reader)
        writer.write(raw[:at])
        await asyncio.sleep(0.003)
        writer.write(raw[at:])
        await reader.read()

    engine.script = script
    ear = await call(upstreams, engine)
    assert ear.body == b"hello!"
    assert ear.heard[1] == ("head", 200, [(b"transfer-encoding", b"chunked"), (b"a", b"b")])
    assert ear.names[-1] == "end"
    assert upstreams.idle_connections(engine.url) == 1


async def test_interim_replies_are_swallowed(upstreams, engine):
    engine.script = replies(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, OK
    )
    for _ in range(2):
        ear = await call(upstreams, engine)
        assert ear.heard[1] == ("head", 200, [(b"content-length", b"2")])
    assert engine.connections == 1


@pytest.mark.parametrize(
    ("method", "raw", "kept"),
    [
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0),
        (b"HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 0),
        (b"GET", b"HTTP/1.1 204 No Content\r\n\r\n", 1),
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 1),
        (b"GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1),
        (b"GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0),
        (b"GET", b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0),
        (b"GET", b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", 1),
    ],
)
async def test_replies_without_a_body_end_with_their_head(upstreams, engine, method, raw, kept):
    engine.script = replies(raw)
    ear = await call(upstreams, engine, method + b" / HTTP/1.1\r\n\r\n", ())
    assert ear.names == ["connected", "head", "end"]
    assert upstreams.idle_connections(engine.url) == kept


async def test_a_body_without_a_length_ends_with_the_connection(upstreams, engine):
    async def script(engine, reader, writer):
        await engine.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\npart")
        await asyncio.sleep(0.01)
        writer.write(b" two")

    engine.script = script
    ear = await call(upstreams, engine)
    assert ear.body == b"part two"
    assert ear.names[-1] == "end"
    assert upstreams.idle_connections(engine.url) == 0


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", FailureKind.RESET),
        (b"HTTP/1.1 200 OK\r\nContent-", FailureKind.RESET),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", FailureKind.RESET),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", FailureKind.RESET),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n", FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", FailureKind.PROTOCOL),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
            FailureKind.PROTOCOL,
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", FailureKind.PROTOCOL),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            FailureKind.PROTOCOL,
        ),
        (b"SSH-2.0-OpenSSH\r\n", FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000, FailureKind.PROTOCOL),
    ],
)
async def test_a_broken_reply_is_lost(upstreams, engine, raw, kind):
    async def close(engine, reader, writer):
        writer.close()

    engine.script = replies(raw, then=close)
    ear = await call(upstreams, engine)
    assert ear.lost == [kind]
    assert ear.names.count("end") == 0
    assert upstreams.idle_connections(engine.url) == 0
    assert engine.connections == 1


def packed_reply(packed):
    return (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nA: b\r\n\r\n" % len(packed)
        + packed
    )


@pytest.mark.parametrize("chunked", [True, False])
async def test_p23_gzip_that_nobody_asked_for_comes_out_plain(upstreams, engine, chunked):
    packed = (CASES / "p23_upstream_body.json.gz").read_bytes()
    plain = (CASES / "p23_upstream_body.json").read_bytes()
    raw = packed_reply(packed)
    if chunked:
        pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in packed)
        raw = (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: GZIP\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n"
            + pieces
            + b"0\r\n\r\n"
        )
    engine.script = replies(raw, raw)
    for _ in range(2):
        ear = await call(upstreams, engine)
        assert ear.body == plain
        assert [header for header in ear.heard[1][2] if header[0] != b"transfer-encoding"] == [(b"a", b"b")]
    assert engine.connections == 1


@pytest.mark.parametrize(
    "packed", [b"not gzip", gzip.compress(b"hello")[:-3], gzip.compress(bytes(64 * 1024 * 1024 + 1))]
)
async def test_gzip_that_cannot_be_undone_is_lost(upstreams, engine, packed):
    engine.script = replies(packed_reply(packed))
    assert (await call(upstreams, engine)).lost == [FailureKind.PROTOCOL]


async def test_gzip_of_a_head_only_reply_is_left_as_it_is(upstreams, engine):
    engine.script = replies(packed_reply(b"")[:-4].replace(b"Length: 0", b"Length: 9") + b"\r\n\r\n")
    ear = await call(upstreams, engine, b"HEAD / HTTP/1.1\r\n\r\n", ())
    assert (b"content-encoding", b"gzip") in ear.heard[1][2]


@pytest.mark.parametrize("extra", [b"HTTP/1.1 200 OK\r\n\r\n", b"x", b"\x00"])
async def test_bytes_after_a_reply_make_the_connection_unfit(upstreams, engine, extra):
    engine.script = replies(OK + extra)
    ear = await call(upstreams, engine)
    assert (ear.body, ear.names[-1]) == (b"ok", "end")
    assert upstreams.idle_connections(engine.url) == 0


async def test_unasked_bytes_on_an_idle_connection_make_it_unfit(upstreams, engine):
    async def tattle(engine, reader, writer):
        await asyncio.sleep(0.02)
        writer.write(OK)
        await reader.read()

    engine.script = replies(OK, then=tattle)
    await call(upstreams, engine)
    assert upstreams.idle_connections(engine.url) == 1
    await asyncio.sleep(0.06)
    assert upstreams.idle_connections(engine.url) == 0


async def test_a_connection_that_the_engine_closes_is_not_handed_out(upstreams, engine):
    async def close(engine, reader, writer):
        await asyncio.sleep(0.02)

    engine.script = replies(OK, then=close)
    await call(upstreams, engine)
    await asyncio.sleep(0.06)
    assert upstreams.idle_connections(engine.url) == 0
    assert (await call(upstreams, engine)).names[-1] == "end"
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
    await call(upstreams, engine)
    ear = await call(upstreams, engine)
    assert ear.names == ["connected", "connected", "head", "data", "end"]
    assert engine.connections == 2
    assert engine.heads == [REQUEST, REQUEST]


async def test_nothing_is_sent_again_once_a_byte_was_answered(upstreams, engine):
    engine.script = closes_on_second_request(b"H")
    await call(upstreams, engine)
    ear = await call(upstreams, engine)
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
    await call(upstreams, engine)
    ear = await call(upstreams, engine)
    assert ear.lost == [FailureKind.RESET]
    assert engine.connections == 2


async def test_an_early_refusal_is_delivered_and_the_connection_closed(upstreams, engine):
    async def script(engine, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await asyncio.sleep(0.2)

    engine.script = script
    ear = await call(
        upstreams, engine, b"POST / HTTP/1.1\r\ncontent-length: 50000000\r\n\r\n", (bytes(50_000_000),)
    )
    assert ear.heard[1][1] == 413
    assert (ear.body, ear.names[-1]) == (b"big", "end")
    assert upstreams.idle_connections(engine.url) == 0


async def test_refused_connections_are_told(upstreams):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    ear = Ear()
    upstreams.send(f"http://127.0.0.1:{port}", REQUEST, (b"hi",), ear)
    assert ear.heard == []  # never before send returns
    await ear.end()
    assert ear.lost == [FailureKind.CONNECT]


async def test_names_that_do_not_resolve_and_wrong_schemes_are_told(upstreams):
    for url in ("http://no-such-name.invalid:1", "https://127.0.0.1:1"):
        ear = Ear()
        upstreams.send(url, REQUEST, (b"hi",), ear)
        assert (await ear.end()).lost == [FailureKind.CONNECT]


async def test_a_connection_that_never_comes_times_out(monkeypatch):
    async def never(loop, url, protocol):
        await asyncio.sleep(60)

    monkeypatch.setattr("forebay.gateway.http1.upstream.open_connection", never)
    upstreams = Upstreams(asyncio.get_running_loop(), connect_timeout_seconds=0.02)
    ear = Ear()
    upstreams.send("http://127.0.0.1:1", REQUEST, (b"hi",), ear)
    await ear.end()
    assert ear.heard == [("lost", FailureKind.CONNECT, "no connection within 0.02 s")]
    upstreams.close()


async def test_a_call_may_be_closed_while_it_connects(upstreams, engine):
    engine.script = replies(OK)
    ear = Ear()
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
    ear = Ear()
    heard = asyncio.Event()
    ear.act = lambda what: heard.set() if what == "data" else None
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    async with asyncio.timeout(3):
        await heard.wait()
    handle.close()
    async with asyncio.timeout(0.5):
        await seen.wait()
    await asyncio.sleep(0.02)
    assert ear.names == ["connected", "head", "data"]


@pytest.mark.parametrize("during", ["head", "data"])
async def test_a_sink_may_close_its_call_from_within(upstreams, engine, during):
    engine.script = replies(OK)
    ear = Ear()
    handle = None
    heard = asyncio.Event()

    def act(what):
        if what == during:
            handle.close()
            heard.set()

    ear.act = act
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    async with asyncio.timeout(3):
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
    ear = Ear()
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
    engine.script = replies(OK, OK)
    ear = Ear()
    handle = None
    ear.act = lambda what: handle.pause() if what == "data" else None
    handle = upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    await ear.end()
    assert (await call(upstreams, engine)).names[-1] == "end"
    assert engine.connections == 1


@pytest.mark.parametrize("during", ["head", "data"])
async def test_a_sink_that_fails_is_logged_and_its_call_lost(upstreams, engine, during, caplog):
    engine.script = replies(OK)
    ear = Ear()

    def act(what):
        if what == during:
            raise RuntimeError("broken")

    ear.act = act
    upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    await ear.end()
    assert ear.lost == [FailureKind.PROTOCOL]
    assert "RuntimeError: broken" in caplog.text


async def test_a_sink_that_fails_at_the_end_is_logged(upstreams, engine, caplog):
    engine.script = replies(OK)
    ear = Ear()

    def act(what):
        if what == "end":
            raise RuntimeError("broken")

    ear.act = act
    upstreams.send(engine.url, REQUEST, (b"hi",), ear)
    await ear.end()
    assert ear.names[-1] == "end"
    assert "RuntimeError: broken" in caplog.text


async def test_idle_connections_are_bounded_and_expire(engine):
    upstreams = Upstreams(
        asyncio.get_running_loop(), connect_timeout_seconds=1.0, idle_seconds=0.1, max_idle_per_endpoint=2
    )
    engine.script = replies(OK, OK)
    await asyncio.gather(*(call(upstreams, engine) for _ in range(3)))
    assert engine.connections == 3
    assert upstreams.idle_connections(engine.url) == 2
    await asyncio.sleep(0.4)
    assert upstreams.idle_connections(engine.url) == 0
    await call(upstreams, engine)
    assert engine.connections == 4
    upstreams.close()
    await asyncio.sleep(0.02)


async def test_an_expired_connection_is_not_handed_out(engine):
    upstreams = Upstreams(asyncio.get_running_loop(), connect_timeout_seconds=1.0, idle_seconds=10.0)
    engine.script = replies(OK, OK)
    await call(upstreams, engine)
    upstreams._idle[engine.url][0].idle_since -= 11.0
    await call(upstreams, engine)
    assert engine.connections == 2
    upstreams.close()
    await asyncio.sleep(0.02)


async def test_close_ends_every_call(upstreams, engine):
    engine.script = replies(OK, then=lambda engine, reader, writer: reader.read())
    await call(upstreams, engine)
    busy, connecting = Ear(), Ear()
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
    ],
)
def test_addresses(url, expected):
    assert address(url) == expected


def test_addresses_that_cannot_be():
    for url in ("https://x", "x:80", "http://", "unix:/x"):
        with pytest.raises(ValueError, match="http://host:port"):
            address(url)
