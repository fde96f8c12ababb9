"""The floor: what no client may do, one by one, and that the answer can be read."""

import asyncio

import pytest

HOST = b"Host: h\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST
CHUNKED = b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


def status_and_code(reply):
    lines = reply.split(b"\r\n")
    return int(lines[0].split(b" ")[1]), lines[1].removeprefix(b"x-code: ").decode()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        pytest.param(GET + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400, id="te-and-cl"),
        pytest.param(GET + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, id="cl-and-te"),
        pytest.param(GET + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400, id="cl-twice"),
        pytest.param(GET + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400, id="cl-different"),
        pytest.param(GET + b"Content-Type: a/b\r\nContent-Type: a/c\r\n\r\n", 400, id="type-twice"),
        pytest.param(GET + b"Content-Length: 5, 5\r\n\r\nhello", 400, id="cl-list"),
        pytest.param(GET + b"Content-Length: +5\r\n\r\nhello", 400, id="cl-sign"),
        pytest.param(GET + b"Content-Length: 0x5\r\n\r\nhello", 400, id="cl-hex"),
        pytest.param(GET + b"Content-Length: -5\r\n\r\nhello", 400, id="cl-negative"),
        pytest.param(GET + b"Content-Length:\r\n\r\nhello", 400, id="cl-empty"),
        pytest.param(GET + b"Content-Length: 9999999999999999999\r\n\r\n", 400, id="cl-19-digits"),
        pytest.param(GET + b"Content-Length: 99999999999999999999999\r\n\r\n", 400, id="cl-overflow"),
        pytest.param(GET + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501, id="te-gzip-chunked"),
        pytest.param(GET + b"Transfer-Encoding: gzip\r\n\r\n", 400, id="te-gzip"),
        pytest.param(GET + b"Transfer-Encoding: identity\r\n\r\n", 400, id="te-identity"),
        pytest.param(GET + b"Transfer-Encoding: xchunked\r\n\r\n", 400, id="te-xchunked"),
        pytest.param(
            GET + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, id="te-twice"
        ),
        pytest.param(GET + b"Transfer-Encoding: chunked, chunked\r\n\r\n", 400, id="te-chunked-chunked"),
        pytest.param(GET + b"Transfer-Encoding : chunked\r\n\r\n", 400, id="blank-before-colon"),
        pytest.param(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, id="te-on-1.0"),
        pytest.param(GET + b"A: b\r\n c\r\n\r\n", 400, id="folded"),
        pytest.param(GET + b"A: b\r\n\tc\r\n\r\n", 400, id="folded-tab"),
        pytest.param(b"GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400, id="folded-first"),
        pytest.param(b"GET / HTTP/1.1\n" + HOST + b"\r\n", 400, id="lf-request-line"),
        pytest.param(GET + b"A: b\n\r\n", 400, id="lf-header"),
        pytest.param(GET + b"A: b\n\n", 400, id="lf-only-end"),
        pytest.param(b"GET / HTTP/1.1\nHost: h\n\n", 400, id="lf-only"),
        pytest.param(GET + b"A: b\r\n\n", 400, id="lf-end"),
        pytest.param(b"\nGET / HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="lf-first"),
        pytest.param(GET + b"A: b\rC: d\r\n\r\n", 400, id="bare-cr"),
        pytest.param(b"GET / HTTP/1.1\rA: b\r\n" + HOST + b"\r\n", 400, id="bare-cr-request-line"),
        pytest.param(GET + b"A: b\x00c\r\n\r\n", 400, id="nul-value"),
        pytest.param(GET + b"A\x00: b\r\n\r\n", 400, id="nul-name"),
        pytest.param(b"GET /\x00 HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="nul-target"),
        pytest.param(GET + b"A: \x01\r\n\r\n", 400, id="control"),
        pytest.param(GET + b": b\r\n\r\n", 400, id="no-name"),
        pytest.param(GET + b"no colon\r\n\r\n", 400, id="no-colon"),
        pytest.param(GET + b"A: " + b"b" * 33_000 + b"\r\n\r\n", 431, id="head-33k"),
        pytest.param(GET + b"A: " + b"b" * 33_000, 431, id="head-33k-unfinished"),
        pytest.param(GET + b"A: b\r\n" * 100 + b"\r\n", 431, id="101-lines"),
        pytest.param(b"GET /" + b"a" * 8_192 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, id="target-8k"),
        pytest.param(b"GET /" + b"a" * 9_000, 414, id="target-8k-unfinished"),
        pytest.param(
            b"GET /" + b"a b" * 9_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, id="target-8k-with-blanks"
        ),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", 400, id="no-host"),
        pytest.param(GET + HOST + b"\r\n", 400, id="host-twice"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, id="host-blank"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, id="host-slash"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", 400, id="host-user"),
        pytest.param(b"GET / HTTP/1.2\r\n" + HOST + b"\r\n", 505, id="version-1.2"),
        pytest.param(b"GET / HTTP/0.9\r\n" + HOST + b"\r\n", 505, id="version-0.9"),
        pytest.param(b"GET / HTTP/3\r\n" + HOST + b"\r\n", 505, id="version-3"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, id="http2-preface"),
        pytest.param(b"GET / ICE/1.0\r\n" + HOST + b"\r\n", 400, id="not-http"),
        pytest.param(b"GET /\r\n\r\n", 400, id="no-version"),
        pytest.param(b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="two-blanks"),
        pytest.param(b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="tab"),
        pytest.param(b"GET a/b HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="relative-target"),
        pytest.param(b"GET ftp://h/a HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="ftp-target"),
        pytest.param(b"GET /\xc3\xa9 HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="raw-utf8-target"),
        pytest.param(b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n", 501, id="unknown-method"),
        pytest.param(b"get / HTTP/1.1\r\n" + HOST + b"\r\n", 501, id="lower-case-method"),
        pytest.param(b"CONNECT h:80 HTTP/1.1\r\n" + HOST + b"\r\n", 405, id="connect"),
        pytest.param(GET + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", 501, id="upgrade"),
        pytest.param(GET + b"Expect: a-miracle\r\n\r\n", 417, id="expect"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n", 400, id="tls"),
        pytest.param(CHUNKED + b"zz\r\n", 400, id="chunk-size"),
        pytest.param(CHUNKED + b"2\r\nabc\r\n", 400, id="chunk-too-long"),
        pytest.param(CHUNKED + b"5\nhello\r\n0\r\n\r\n", 400, id="chunk-lf"),
        pytest.param(CHUNKED + b"5\r\nhelloX", 400, id="chunk-not-closed"),
        pytest.param(CHUNKED + b"+5\r\nhello\r\n", 400, id="chunk-sign"),
        pytest.param(CHUNKED + b"0x5\r\nhello\r\n", 400, id="chunk-0x"),
        pytest.param(CHUNKED + b"5;a=" + b"b" * 2_000 + b"\r\nhello\r\n", 400, id="chunk-extension"),
        pytest.param(CHUNKED + b"5;a\nb\r\nhello\r\n", 400, id="chunk-extension-lf"),
        pytest.param(CHUNKED + b"fffffffffffffffff\r\n", 400, id="chunk-overflow"),
        pytest.param(CHUNKED + b"0\r\n" + b"T: r\r\n" * 2_000 + b"\r\n", 400, id="trailer-too-long"),
        pytest.param(CHUNKED + b"0\r\nT: r\nX: y\r\n\r\n", 400, id="trailer-lf"),
    ],
)
async def test_refused(listen, raw, status):
    listener = await listen()
    got = await listener.exchange(raw)
    assert status_and_code(got)[0] == status, got
    assert b"\r\nconnection: close\r\n" in got
    assert listener.handler.bodies == []
    assert [told for told, _ in listener.handler.bad] == [status]
    await listener.settle()
    assert listener.budget.used_bytes == 0


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\r\n\r\n" + GET + b"Connection: close\r\n\r\n", id="blank-lines-first"),
        pytest.param(GET + b"Connection: Keep-Alive, Close\r\n\r\n", id="close-in-a-list"),
        pytest.param(GET + b"A: b\r\n" * 98 + b"Connection: close\r\n\r\n", id="100-lines"),
        pytest.param(GET + b"A: " + b"b" * 32_000 + b"\r\nConnection: close\r\n\r\n", id="head-32k"),
        pytest.param(
            b"GET /" + b"a" * 8_191 + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", id="target-8k"
        ),
        pytest.param(b"GET http://x/ HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", id="absolute"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n", id="host-v6"),
        pytest.param(b"GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", id="host-empty"),
        pytest.param(b"OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", id="asterisk"),
        pytest.param(
            GET + b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n\r\n", id="h2c-offer"
        ),
        pytest.param(GET + b"A: caf\xe9\r\nConnection: close\r\n\r\n", id="latin-1-value"),
        pytest.param(GET + b"A:b \t \r\nConnection:close\r\n\r\n", id="blanks-around-values"),
        pytest.param(b"GET / HTTP/1.0\r\n\r\n", id="http-1.0-without-host"),
    ],
)
async def test_allowed(listen, raw):
    listener = await listen()
    assert (await listener.exchange(raw)).startswith(b"HTTP/1.1 200 OK\r\n")
    assert listener.handler.bad == []


@pytest.mark.parametrize(
    ("target", "path", "origin"),
    [
        (b"http://x", "/", "/"),
        (b"http://x/a?b", "/a", "/a?b"),
        (b"HTTPS://x/a//b", "/a//b", "/a//b"),
        (b"/a?b?c", "/a", "/a?b?c"),
    ],
)
async def test_targets(listen, target, path, origin):
    listener = await listen()
    await listener.exchange(b"GET " + target + b" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    (request,) = listener.handler.requests
    assert (request.path, request.target) == (path, origin)


async def test_p06_a_long_body_is_refused_before_it_is_read(listen):
    listener = await listen()
    client = await listener.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\n\r\n")
    status, headers, body = await client.reply()
    assert (status, headers["x-code"], headers["connection"]) == (413, "body-too-large", "close")
    assert body == b"The body must not be longer than 1048576 bytes (setting `inbound.max_body_bytes`)."
    client.send(bytes(3_145_728))
    assert await client.all() == b""
    await client.close()
    await listener.settle()


async def test_p06_the_whole_body_sent_blindly_does_not_lose_the_answer(listen):
    listener = await listen()
    client = await listener.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\n\r\n" + bytes(3_145_728))
    await client.writer.drain()
    assert (await client.reply())[0] == 413
    await client.close()
    await listener.settle()
    assert listener.handler.bodies == []


async def test_p06_expect_continue_gets_413_instead_of_100(listen):
    listener = await listen()
    got = await listener.exchange(
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\nExpect: 100-continue\r\n\r\n"
    )
    assert status_and_code(got) == (413, "body-too-large")


async def test_p06_a_long_chunked_body_is_refused_at_the_limit(listen):
    listener = await listen()
    client = await listener.connect()
    client.send(CHUNKED)
    sent = 0
    while not listener.handler.bad and sent < 3_145_728:
        client.send(b"1000\r\n" + bytes(4096) + b"\r\n")
        sent += 4096
        await asyncio.sleep(0.0005)
    assert 1_048_576 < sent < 1_300_000
    assert (await client.reply())[0] == 413
    await client.close()
    await listener.settle()
    assert listener.budget.used_bytes == 0


@pytest.mark.parametrize("chunked", [True, False])
async def test_p06_a_body_of_just_the_limit_is_accepted(listen, chunked):
    listener = await listen()
    body = b"x" * 1_048_576
    client = await listener.connect()
    if chunked:
        client.send(CHUNKED + b"100000\r\n" + body + b"\r\n0\r\n\r\n")
    else:
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n" + body)
    assert (await client.reply())[2] == body
    await client.close()


async def test_no_body_is_accepted_where_none_is_wanted(listen):
    listener = await listen()
    listener.handler.max_body_bytes = 0
    assert status_and_code(await listener.exchange(GET + b"Content-Length: 1\r\n\r\nx"))[0] == 413
    assert status_and_code(await listener.exchange(CHUNKED + b"1\r\nx\r\n"))[0] == 413
    assert (
        await listener.exchange(CHUNKED.replace(HOST, HOST + b"Connection: close\r\n") + b"0\r\n\r\n")
    ).startswith(b"HTTP/1.1 200")


async def test_a_head_that_never_ends_is_refused_in_time(listen):
    listener = await listen(head_timeout_seconds=0.2)
    client = await listener.connect()
    start = asyncio.get_running_loop().time()

    async def drip():
        for byte in GET * 30:
            client.send(bytes([byte]))
            await asyncio.sleep(0.01)

    dripping = asyncio.create_task(drip())
    status, headers, _ = await client.reply()
    assert (status, headers["x-code"]) == (408, "head-timeout")
    assert asyncio.get_running_loop().time() - start < 5.0
    dripping.cancel()
    await client.close()


async def test_the_head_timeout_of_a_later_request_counts_from_its_first_byte(listen):
    listener = await listen(head_timeout_seconds=0.2, idle_timeout_seconds=60.0)
    client = await listener.connect()
    client.send(GET + b"\r\n")
    assert (await client.reply())[0] == 200
    await asyncio.sleep(0.3)
    client.send(GET[:9])
    assert (await client.reply())[0] == 408
    await client.close()


async def test_a_silent_connection_is_closed_without_a_word(listen):
    listener = await listen(head_timeout_seconds=0.05)
    client = await listener.connect()
    assert await client.all() == b""
    assert listener.handler.bad == []
    await client.close()


async def test_an_idle_connection_is_closed(listen):
    listener = await listen(idle_timeout_seconds=0.05)
    client = await listener.connect()
    client.send(GET + b"\r\n")
    assert (await client.reply())[0] == 200
    assert await client.all() == b""
    assert listener.handler.bad == []
    await client.close()


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_body_that_comes_too_slowly_is_refused(listen, chunked):
    listener = await listen(min_body_bytes_per_second=1000, body_grace_seconds=0.1)
    client = await listener.connect()
    if chunked:
        client.send(CHUNKED + b"10000\r\n")
    else:
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65536\r\n\r\n")
    start = asyncio.get_running_loop().time()

    async def drip():
        client.send(b"x" * 300)  # worth 0.3 s
        while True:
            client.send(b"x")
            await asyncio.sleep(0.02)

    dripping = asyncio.create_task(drip())
    status, headers, _ = await client.reply()
    assert (status, headers["x-code"]) == (408, "body-too-slow")
    assert 0.25 < asyncio.get_running_loop().time() - start < 2.0
    dripping.cancel()
    await client.close()
    await listener.settle()
    assert listener.budget.used_bytes == 0


async def test_a_client_that_leaves_mid_upload_is_forgotten_in_silence(listen):
    listener = await listen()
    client = await listener.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + b"x" * 1000)
    await listener.settle(lambda: listener.budget.used_bytes == 1000)
    await client.close()
    await listener.settle()
    assert listener.budget.used_bytes == 0
    assert listener.handler.gone == []
    assert listener.handler.bad == []


async def test_a_client_that_takes_nothing_is_cut_off(listen):
    listener = await listen(send_timeout_seconds=0.1)
    listener.handler.answer = lambda request, body, reply: (
        reply.start(200, [], None),
        reply.write(b"x" * 20_000_000),
    )
    client = await listener.connect()
    client.send(GET + b"\r\n")
    await listener.settle(lambda: listener.handler.gone)
    await client.close()


async def test_a_client_that_takes_no_whole_reply_is_cut_off(listen):
    listener = await listen(send_timeout_seconds=0.1)
    listener.handler.answer = lambda request, body, reply: reply.respond(200, [], b"x" * 20_000_000)
    client = await listener.connect()
    client.send(GET + b"Connection: close\r\n\r\n")
    await listener.settle(lambda: len(listener.handler.replies) == 1)
    await listener.settle()
    await client.close()


async def test_lingering_ends(listen):
    listener = await listen(linger_seconds=0.1)
    client = await listener.connect()
    client.send(b"BAD\r\n\r\n")
    assert (await client.reply())[0] == 400
    await listener.settle()
    await client.close()


async def test_lingering_throws_away_only_so_much(listen):
    listener = await listen(linger_bytes=1_000_000)
    client = await listener.connect()
    client.send(b"BAD\r\n\r\n")
    assert (await client.reply())[0] == 400
    client.send(bytes(4_000_000))
    await listener.settle()
    await client.close()


@pytest.mark.parametrize("limit", ["max_connections", "max_connections_per_address"])
async def test_connections_are_capped(listen, limit):
    listener = await listen(**{limit: 2})
    kept = [await listener.connect() for _ in range(2)]
    await listener.settle(lambda: len(listener.connections) == 2)
    got = await listener.exchange(GET + b"\r\n")
    assert status_and_code(got) == (503, "too-many-connections")
    for client in kept:
        client.send(GET + b"\r\n")
        assert (await client.reply())[0] == 200
        await client.close()
    await listener.settle()
    client = await listener.connect()
    client.send(GET + b"\r\n")
    assert (await client.reply())[0] == 200
    await client.close()


async def test_connections_far_over_the_cap_are_cut_off_without_a_word(listen, monkeypatch):
    monkeypatch.setattr("forebay.gateway.http1.connections.REFUSAL_ROOM", 0)
    listener = await listen(max_connections=1)
    first = await listener.connect()
    await listener.settle(lambda: len(listener.connections) == 1)
    second = await listener.connect()
    assert await second.all() == b""
    assert listener.handler.bad == []
    await first.close()
    await second.close()


async def test_who_pipelines_too_much_while_a_reply_is_pending_is_cut_off(listen):
    listener = await listen(max_pipelined_bytes=1000)
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(GET + b"\r\n")
    await listener.settle(lambda: listener.handler.replies)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n" + bytes(9_000))
    await listener.settle()
    assert listener.handler.gone == listener.handler.replies
    assert listener.budget.used_bytes == 0
    await client.close()


async def test_p18_a_client_that_pipelined_and_left_is_noticed(listen):
    listener = await listen(max_pipelined_bytes=1000)
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(GET + b"\r\n" + bytes(900))
    await listener.settle(lambda: listener.handler.replies)
    await client.close()
    await listener.settle(lambda: listener.handler.gone)


async def test_a_body_that_nobody_waits_for_does_not_end_its_reply(listen):
    listener = await listen(max_pipelined_bytes=1000)
    begun = []
    listener.handler.head = lambda request, reply: (reply.start(200, [], None), begun.append(reply))
    client = await listener.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n" + bytes(900_000))
    await client.reader.readuntil(b"\r\n\r\n")
    (connection,) = listener.connections._open
    await listener.settle(lambda: connection._paused)
    assert 1000 < len(connection._held) < 140_000
    begun[0].write(b"x")
    begun[0].end()
    assert (await client.all()) == b"1\r\nx\r\n0\r\n\r\n"
    await client.close()


async def test_a_flood_of_small_requests_is_held_back(listen):
    listener = await listen()
    client = await listener.connect()
    await listener.settle(lambda: len(listener.connections) == 1)
    count = 20_000
    client.send((GET + b"\r\n") * count)
    (connection,) = listener.connections._open
    most = 0

    def answer(request, body, reply):
        nonlocal most
        most = max(most, len(connection._held))
        reply.respond(204, [], b"")

    listener.handler.answer = answer
    for _ in range(count):
        await client.reader.readuntil(b"\r\n\r\n")
    assert most < 100_000
    await client.close()


async def test_nagle_is_off(listen):
    import socket

    listener = await listen()
    client = await listener.connect()
    await listener.settle(lambda: len(listener.connections) == 1)
    (connection,) = listener.connections._open
    assert (
        connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    )
    await client.close()
