"""TLS and Unix sockets on the way in: what holds in clear must hold there too."""

import asyncio
import base64
import contextlib
import json
import os
import random
import socket
import ssl
import stat

import aiohttp
import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Reset, ScriptedEngine

from .elsewhere import Authority
from .test_admin_and_drain import ASK, Streaming, ok, pool
from .words import CHAT, CHUNKED, Client, answer, chat, chunk, eventually, image, parts, piece, text_of


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def paths(pair, **more):
    return {"cert_file": pair[0], "key_file": pair[1], **more}


@contextlib.asynccontextmanager
async def connected(gateway, context, receive_bytes=0):
    """A raw client over TLS."""
    sock = socket.socket()
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(sock, gateway.station.public_address)
    client = Client(*await asyncio.open_connection(sock=sock, ssl=context, server_hostname="gate.test"))
    try:
        yield client
    finally:
        client.leave()
        with contextlib.suppress(OSError):
            await client.writer.wait_closed()


class TestTls:
    @pytest.fixture
    def tls(self, authority):
        return paths(authority.pair("gate.test"))

    async def test_many_requests_and_streams_on_kept_connections(self, authority, tls):
        words = [f"{number} " for number in range(200)]
        script = lambda r: (  # noqa: E731 - as short as it gets
            [
                CHUNKED,
                *(piece(chunk(content=word)) for word in words),
                piece(b"data: [DONE]\n\n"),
                b"0\r\n\r\n",
            ]
            if json.loads(r.body).get("stream")
            else [answer()]
        )
        async with ScriptedEngine(script) as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:
            async with connected(gateway, authority.client()) as client:
                for _ in range(3):
                    client.ask(chat())
                    head, body = await client.whole(30)
                    assert head.startswith(b"HTTP/1.1 200 ")
                    assert json.loads(body)["choices"]
                    client.ask(ASK)
                    got = await client.until(b"0\r\n\r\n", 30)
                    sse = b"".join(part for part in got.split(b"\r\n") if part.startswith(b"data:"))
                    assert text_of(sse.replace(b"data:", b"\ndata:")) == "".join(words)
            await gateway.settled(30)

    @pytest.mark.parametrize("chunked", [False, True])
    async def test_large_bodies_arrive_whole_though_connections_share_a_buffer(self, authority, tls, chunked):
        dice = random.Random(7)
        bodies = [json.dumps(parts(image(dice.randbytes(1_500_000)))).encode() for _ in range(4)]
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:

            async def send(body):
                async with connected(gateway, authority.client()) as client:
                    if chunked:
                        head = (
                            f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n".encode()
                        )
                        blocks = [body[at : at + 50_000] for at in range(0, len(body), 50_000)]
                        client.writer.write(head + b"".join(map(piece, blocks)) + b"0\r\n\r\n")
                    else:
                        client.ask(body)
                    return (await client.whole(30))[0].split()[1]

            assert await asyncio.gather(*map(send, bodies)) == [b"200"] * 4
            assert sorted(received.body for received in engine.received) == sorted(bodies)

    async def test_a_client_that_leaves_frees_its_engine(self, authority, tls):
        async with Streaming() as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:
            for leave in ("abort", "close"):
                async with connected(gateway, authority.client()) as client:
                    client.ask(ASK)
                    await client.until(b"begun", 30)
                    if leave == "abort":
                        client.leave()
                    else:
                        client.writer.close()  # says goodbye in TLS's own words
                    await gateway.settled(30)
        assert [line["ending"] for line in gateway.lines()] == ["cancelled"] * 2

    async def test_a_slow_reader_stops_its_engine_and_gets_every_byte(self, authority, tls):
        block = chunk(content=base64.b64encode(os.urandom(48_000)).decode())
        many, sent = 400, []  # 25 MB: more than all buffers on the way hold

        class Flood(ScriptedEngine):
            async def _play(self, actions, reader, writer):
                writer.write(CHUNKED)
                for _ in range(many):
                    writer.write(piece(block))
                    await writer.drain()
                    sent.append(1)
                writer.write(b"0\r\n\r\n")
                await writer.drain()
                return True

        async with Flood(ok) as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:
            async with connected(gateway, authority.client(), 16 * 1024) as client:
                client.reader._limit = 1024  # reads little ahead
                client.ask(ASK)
                await client.until(b"\r\n\r\n", 30)
                (exchange,) = gateway.station.gateway.exchanges.values()
                await eventually(lambda: not exchange.reply.writable, 30)
                held = 0
                while held != len(sent):
                    held = len(sent)
                    await asyncio.sleep(0.1)
                assert held < many
                got = 0
                async with asyncio.timeout(60):
                    while data := await client.reader.read(1 << 20):
                        got += data.count(b"chat.completion.chunk")
                        if len(sent) == many and data.endswith(b"0\r\n\r\n"):
                            break
                assert abs(got - many) <= 2  # a word that is cut in two is not counted
            await gateway.settled(30)

    async def test_a_slow_reader_that_takes_nothing_is_cut_off(self, authority, tls):
        flood = [CHUNKED, *[piece(chunk(content="x" * 60_000))] * 400]
        inbound = {"send_timeout_seconds": 0.2, "sweep_seconds": 0.05}
        async with (
            ScriptedEngine(lambda _: flood) as engine,
            LiveGateway(pools=pool(engine), tls=tls, inbound=inbound) as gateway,
            connected(gateway, authority.client(), 16 * 1024) as client,
        ):
            client.reader._limit = 1024
            client.ask(ASK)
            await client.until(b"\r\n\r\n", 30)
            await gateway.settled(30)

    async def test_a_stream_that_breaks_off_is_not_taken_for_whole(self, authority, tls, caplog):
        cut = [CHUNKED, piece(chunk(content="half")), Reset()]
        async with (
            ScriptedEngine(lambda _: cut) as engine,
            LiveGateway(pools=pool(engine), tls=tls) as gateway,
        ):
            async with connected(
                gateway, authority.client()
            ) as client:  # whose replies end with the connection
                body = json.dumps(ASK).encode()
                head = f"POST {CHAT} HTTP/1.0\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
                client.writer.write(head.encode() + body)
                got = await client.all(30)
            assert b"half" in got
            assert b"upstream_truncated" in got
            await gateway.settled(30)
        assert not [record for record in caplog.records if record.levelname == "ERROR"]

    async def test_a_refusal_is_read_though_the_body_was_not(self, authority, tls, caplog):
        limits = {"max_body_bytes": 1000}
        async with (
            ScriptedEngine(ok) as engine,
            LiveGateway(pools=pool(engine), tls=tls, inbound=limits) as gateway,
            connected(gateway, authority.client()) as client,
        ):
            client.ask(b"x" * 500_000)
            head, _ = await client.whole(30)
            assert head.startswith(b"HTTP/1.1 413 ")
            assert b"connection: close" in head.lower()
        assert not [record for record in caplog.records if record.levelname == "ERROR"]

    async def test_plain_http_is_no_way_in_and_a_silent_client_is_cut_off(self, tls):
        inbound = {"head_timeout_seconds": 0.2}
        async with (
            ScriptedEngine(ok) as engine,
            LiveGateway(pools=pool(engine), tls=tls, inbound=inbound) as gateway,
        ):
            async with Client.of(gateway.url) as plain, Client.of(gateway.url) as silent:
                plain.ask(chat())
                assert b"HTTP" not in await plain.all(30)
                assert await silent.all(30) == b""
            assert engine.received == []
            assert gateway.station.urls()[0] == gateway.url.replace("http:", "https:")

    async def test_a_drain_lets_streams_end(self, authority, tls):
        async with (
            Streaming() as engine,
            LiveGateway(pools=pool(engine), tls=tls) as gateway,
            connected(gateway, authority.client()) as client,
        ):
            client.ask(ASK)
            await client.until(b"begun", 30)
            draining = asyncio.create_task(gateway.station.drain())
            await eventually(lambda: gateway.station._public.draining, 30)
            engine.go.set()
            assert b" ended" in await client.all(30)
            await asyncio.wait_for(draining, 30)

    async def test_a_new_certificate_is_shown_after_a_reload(self, authority, tls):
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:

            async def serial():
                async with connected(gateway, authority.client()) as client:
                    client.ask(chat())
                    assert (await client.whole(30))[0].startswith(b"HTTP/1.1 200 ")
                    return client.writer.get_extra_info("peercert")["serialNumber"]

            async with connected(gateway, authority.client()) as kept:
                first = await serial()
                authority.pair("gate.test")
                assert (await gateway.reload()).status == 200
                assert await serial() != first
                (authority.folder / "server.key").write_text("no key")
                reply = await gateway.reload()
                assert reply.status == 422
                assert "the key without a password and of that certificate" in reply.error()["message"]
                assert await serial() != first
                kept.ask(chat())
                assert (await kept.whole(30))[0].startswith(b"HTTP/1.1 200 ")

    async def test_changed_files_are_seen_without_being_told(self, authority, tls, monkeypatch):
        monkeypatch.setattr("forebay.gateway.plans.CERTIFICATE_SECONDS", 0.01)
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:
            version = gateway.station.plans.assembly.plan.version
            async with asyncio.timeout(30):
                while gateway.station.plans.assembly.plan.version == version:
                    authority.pair("gate.test")
                    await asyncio.sleep(0.02)

    async def test_clients_show_a_certificate_of_their_own_where_one_is_asked_for(self, authority):
        tls = paths(authority.pair("gate.test"), client_ca_file=authority.ca_file, min_version="1.3")
        mine = authority.pair("me.test", stem="client")
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), tls=tls) as gateway:
            async with connected(gateway, authority.client(pair=mine)) as client:
                client.ask(chat())
                assert (await client.whole(30))[0].startswith(b"HTTP/1.1 200 ")
            with pytest.raises((ssl.SSLError, OSError, asyncio.IncompleteReadError)):
                async with connected(gateway, authority.client()) as stranger:
                    stranger.ask(chat())
                    await stranger.whole(30)
            old = authority.client(pair=mine)
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            with pytest.raises((ssl.SSLError, OSError)):
                async with connected(gateway, old):
                    pass
            assert len(engine.received) == 1

    async def test_operators_come_in_by_tls_too(self, authority):
        tls = paths(authority.pair("127.0.0.1"))
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine), admin_tls=tls) as gateway:
            url = gateway.admin_url.replace("http:", "https:")
            assert gateway.station.urls()[1] == url
            async with gateway.session.get(f"{url}/ready", ssl=authority.client()) as reply:
                assert await reply.json() == {"ready": True}


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


async def test_clients_and_operators_come_in_by_file(tmp_path):
    public, admin = tmp_path / "p.sock", tmp_path / "a.sock"
    settings = {"listen": [f"unix:{public}", "127.0.0.1:0"], "admin": f"unix://{admin}", "socket_mode": "600"}
    async with ScriptedEngine(ok) as engine:
        async with LiveGateway(pools=pool(engine), **settings) as gateway:
            assert mode_of(public) == 0o600
            by_file, by_port = gateway.station.urls()[0].split(", ")
            assert (by_file, gateway.station.urls()[1]) == (f"unix:{public}", f"unix:{admin}")
            async with (
                aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(public))) as session,
                session.post(f"http://x{CHAT}", json=chat()) as reply,
            ):
                assert reply.status == 200
            async with (
                aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(admin))) as session,
                session.get("http://x/ready") as reply,
            ):
                assert reply.status == 200
            async with gateway.session.post(by_port + CHAT, json=chat()) as reply:
                assert reply.status == 200
        assert not public.exists()
        assert not admin.exists()
    assert engine.received[0].headers["x-forwarded-for"] == "unix"
