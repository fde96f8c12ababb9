"""Replies of engines, good and bad."""

import asyncio
import gzip
from pathlib import Path

import pytest

from forebay.domain.outcome import FailureKind

CASES = Path(__file__).parents[2] / "cases"
REQUEST = b"POST /v1/x HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_reply_is_told_in_order_and_the_connection_kept(upstreams, engine):
    engine.replies(OK, OK)
    first = await engine.call(upstreams)
    assert first.heard == [
        ("connected",),
        ("head", 200, [(b"content-length", b"2")]),
        ("data", b"ok"),
        ("end",),
    ]
    assert upstreams.idle_connections(engine.url) == 1
    second = await engine.call(upstreams)
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
    await engine.call(upstreams, head, (body[:100_000], memoryview(body)[100_000:]))
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
    ear = await engine.call(upstreams)
    assert ear.body == b"hello!"
    assert ear.heard[1] == ("head", 200, [(b"transfer-encoding", b"chunked"), (b"a", b"b")])
    assert ear.names[-1] == "end"
    assert upstreams.idle_connections(engine.url) == 1


async def test_interim_replies_are_swallowed(upstreams, engine):
    engine.replies(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, OK)
    for _ in range(2):
        ear = await engine.call(upstreams)
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
    engine.replies(raw)
    ear = await engine.call(upstreams, method + b" / HTTP/1.1\r\n\r\n", ())
    assert ear.names == ["connected", "head", "end"]
    assert upstreams.idle_connections(engine.url) == kept


async def test_a_body_without_a_length_ends_with_the_connection(upstreams, engine):
    async def script(engine, reader, writer):
        await engine.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\npart")
        await asyncio.sleep(0.01)
        writer.write(b" two")

    engine.script = script
    ear = await engine.call(upstreams)
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

    engine.replies(raw, then=close)
    ear = await engine.call(upstreams)
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
    engine.replies(raw, raw)
    for _ in range(2):
        ear = await engine.call(upstreams)
        assert ear.body == plain
        assert [header for header in ear.heard[1][2] if header[0] != b"transfer-encoding"] == [(b"a", b"b")]
    assert engine.connections == 1


@pytest.mark.parametrize(
    "packed",
    [b"not gzip", gzip.compress(b"hello", mtime=0)[:-3], gzip.compress(bytes(64 * 1024 * 1024 + 1), mtime=0)],
)
async def test_gzip_that_cannot_be_undone_is_lost(upstreams, engine, packed):
    engine.replies(packed_reply(packed))
    assert (await engine.call(upstreams)).lost == [FailureKind.PROTOCOL]


async def test_gzip_of_a_head_only_reply_is_left_as_it_is(upstreams, engine):
    engine.replies(packed_reply(b"")[:-4].replace(b"Length: 0", b"Length: 9") + b"\r\n\r\n")
    ear = await engine.call(upstreams, b"HEAD / HTTP/1.1\r\n\r\n", ())
    assert (b"content-encoding", b"gzip") in ear.heard[1][2]


@pytest.mark.parametrize("extra", [b"HTTP/1.1 200 OK\r\n\r\n", b"x", b"\x00"])
async def test_bytes_after_a_reply_make_the_connection_unfit(upstreams, engine, extra):
    engine.replies(OK + extra)
    ear = await engine.call(upstreams)
    assert (ear.body, ear.names[-1]) == (b"ok", "end")
    assert upstreams.idle_connections(engine.url) == 0


async def test_unasked_bytes_on_an_idle_connection_make_it_unfit(upstreams, engine):
    async def tattle(engine, reader, writer):
        await asyncio.sleep(0.02)
        writer.write(OK)
        await reader.read()

    engine.replies(OK, then=tattle)
    await engine.call(upstreams)
    assert upstreams.idle_connections(engine.url) == 1
    await asyncio.sleep(0.06)
    assert upstreams.idle_connections(engine.url) == 0


async def test_an_early_refusal_is_delivered_and_the_connection_closed(upstreams, engine):
    async def script(engine, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await asyncio.sleep(0.2)

    engine.script = script
    ear = await engine.call(
        upstreams, b"POST / HTTP/1.1\r\ncontent-length: 50000000\r\n\r\n", (bytes(50_000_000),)
    )
    assert ear.heard[1][1] == 413
    assert (ear.body, ear.names[-1]) == (b"big", "end")
    assert upstreams.idle_connections(engine.url) == 0
