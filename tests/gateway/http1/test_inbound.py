"""Requests in, replies out, on real sockets."""

import asyncio

import pytest

POST = b"POST /v1/x?q=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
CLOSE = b"Connection: close\r\n\r\n"


def post(body, *extra, close=False):
    lines = [b"POST / HTTP/1.1", b"Host: h", b"Content-Length: %d" % len(body), *extra]
    if close:
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def test_a_request_reaches_the_handler_and_its_reply_the_client(listen):
    listener = await listen()
    client = await listener.connect()
    client.send(POST)
    status, headers, body = await client.reply()
    assert (status, headers, body) == (200, {"x-echo": "1", "content-length": "5"}, b"hello")
    (request,) = listener.handler.requests
    assert (request.method, request.target, request.path) == ("POST", "/v1/x?q=1", "/v1/x")
    assert request.headers == [(b"host", b"h")]
    assert request.header(b"host") == b"h"
    assert request.header(b"none") is None
    assert (request.keep_alive, request.http10, request.peer) == (True, False, "127.0.0.1")
    client.send(POST)
    assert (await client.reply())[0] == 200
    await client.close()
    await listener.settle()
    assert listener.handler.gone == []
    assert listener.budget.used_bytes == 0


@pytest.mark.parametrize("at", range(1, len(POST)))
async def test_a_request_may_be_cut_anywhere(listen, at):
    listener = await listen()
    client = await listener.connect()
    client.send(POST[:at])
    await asyncio.sleep(0.002)
    client.send(POST[at:])
    assert (await client.reply())[2] == b"hello"
    await client.close()


async def test_a_request_may_come_byte_by_byte(listen):
    listener = await listen()
    client = await listener.connect()
    chunked = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nT: x\r\n\r\n"
    for byte in POST + chunked:
        client.send(bytes([byte]))
        await asyncio.sleep(0.0005)
    assert (await client.reply())[2] == b"hello"
    assert (await client.reply())[2] == b"abcde"
    await client.close()


async def test_pipelined_requests_are_answered_one_after_the_other(listen):
    listener = await listen()
    client = await listener.connect()
    bodies = [b"%d" % number * (number % 7) for number in range(500)]
    client.send(b"".join(post(body) for body in bodies))
    for body in bodies:
        assert (await client.reply())[2] == body
    await client.close()


async def test_a_pipelined_request_waits_until_the_reply_ends(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(POST + post(b"second" * 1_000))
    await listener.settle(lambda: len(listener.handler.replies) == 1)
    await asyncio.sleep(0.05)
    assert len(listener.handler.replies) == 1
    assert listener.connections.busy == 1
    listener.handler.replies[0].respond(200, [], b"one")
    await listener.settle(lambda: len(listener.handler.replies) == 2)
    listener.handler.replies[1].respond(200, [], b"two")
    assert (await client.reply())[2] == b"one"
    assert (await client.reply())[2] == b"two"
    await client.close()


@pytest.mark.parametrize("size", [0, 1, 70_000, 3_000_000, 3_000_001, 4 * 1024 * 1024])
async def test_bodies_of_any_length_come_whole(listen, size):
    listener = await listen()
    listener.handler.max_body_bytes = max(size, 5)
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    client = await listener.connect()
    client.send(post(body) + POST)
    assert (await client.reply())[2] == body
    assert (await client.reply())[2] == b"hello"
    await client.close()


@pytest.mark.parametrize("piece", [1000, 65_536, 200_000])
async def test_chunked_bodies_come_whole(listen, piece):
    listener = await listen()
    body = bytes(range(256)) * 4000
    chunks = b"".join(
        b"%X\r\n%b\r\n" % (len(part), part)
        for part in (body[i : i + piece] for i in range(0, len(body), piece))
    )
    client = await listener.connect()
    client.send(
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n" + chunks + b"0\r\n\r\n" + POST
    )
    assert (await client.reply())[2] == body
    assert (await client.reply())[2] == b"hello"
    await client.close()


async def test_a_claimed_length_costs_no_memory_before_it_comes(listen):
    listener = await listen()
    listener.handler.max_body_bytes = 1 << 40
    client = await listener.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\nx" % (1 << 39))
    await asyncio.sleep(0.02)
    assert listener.budget.used_bytes == 1
    await client.close()
    await listener.settle()
    assert listener.budget.used_bytes == 0
    assert listener.handler.gone == []  # never handed over


@pytest.mark.parametrize(
    ("request_line", "status", "length", "expected"),
    [
        (b"HEAD", 200, 5, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"),
        (b"HEAD", 200, None, b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"GET", 204, 0, b"HTTP/1.1 204 No Content\r\n\r\n"),
        (b"GET", 204, None, b"HTTP/1.1 204 No Content\r\n\r\n"),
        (b"GET", 304, 5, b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n"),
        (b"GET", 304, None, b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        (b"GET", 299, 0, b"HTTP/1.1 299 \r\ncontent-length: 0\r\n\r\n"),
    ],
)
async def test_replies_without_a_body_have_none(listen, request_line, status, length, expected):
    listener = await listen()

    def answer(request, body, reply):
        if request.path == "/last":
            reply.respond(200, [], b"end")
            return
        reply.start(status, [], length)
        if length:
            reply.write(b"never")
        reply.end()

    listener.handler.answer = answer
    got = await listener.exchange(
        request_line + b" / HTTP/1.1\r\nHost: h\r\n\r\n", b"GET /last HTTP/1.1\r\nHost: h\r\n" + CLOSE
    )
    assert got == expected + b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nend"


async def test_expect_continue_is_answered_when_the_body_is_welcome(listen):
    listener = await listen()
    client = await listener.connect()
    client.send(POST[:-5].replace(b"\r\n\r\n", b"\r\nExpect: 100-Continue\r\n\r\n"))
    assert await client.reader.readexactly(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send(b"hello")
    assert (await client.reply())[2] == b"hello"
    client.send(
        POST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    )  # the body came along: nothing to say
    assert (await client.reply())[0] == 200
    await client.close()


async def test_the_handler_may_answer_at_the_head(listen):
    listener = await listen()
    listener.handler.head = lambda request, reply: reply.respond(401, [], b"no")
    client = await listener.connect()
    client.send(GET + GET)
    assert (await client.reply())[:2] == (401, {"content-length": "2"})
    assert (await client.reply())[:2] == (401, {"content-length": "2"})
    client.send(POST[:-5])
    assert (await client.reply())[:2] == (401, {"content-length": "2", "connection": "close"})
    client.send(b"hello" * 100)
    assert await client.all() == b""
    await client.close()
    assert listener.handler.bodies == []
    await listener.settle()


async def test_a_reply_begun_at_the_head_may_end_later(listen):
    listener = await listen()
    begun = []

    def head(request, reply):
        reply.start(200, [], None)
        begun.append(reply)

    listener.handler.head = head
    client = await listener.connect()
    client.send(POST)
    await listener.settle(lambda: begun)
    begun[0].write(b"x")
    begun[0].end()
    status, headers, body = await client.reply()
    assert (status, headers["connection"], body) == (200, "close", b"x")
    assert await client.all() == b""
    await client.close()


@pytest.mark.parametrize("half", [True, False])
async def test_p18_a_client_that_leaves_is_noticed_at_once(listen, half):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(POST)
    await listener.settle(lambda: listener.handler.replies)
    if half:
        client.writer.write_eof()
    else:
        client.writer.transport.abort()
    await listener.settle(lambda: listener.handler.gone)
    (reply,) = listener.handler.replies
    assert listener.handler.gone == [reply]
    assert reply.finished
    reply.respond(200, [], b"too late")
    await client.close()
    await listener.settle()
    assert listener.handler.gone == [reply]
    assert listener.budget.used_bytes == 0


async def test_p18_a_client_that_leaves_mid_stream_is_noticed(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: reply.start(200, [], None)
    client = await listener.connect()
    client.send(GET)
    await client.reader.readuntil(b"\r\n\r\n")
    await client.close()
    await listener.settle(lambda: listener.handler.gone)


async def test_a_slow_reader_gets_no_second_reply_before_it_read_the_first(listen):
    listener = await listen(max_pipelined_bytes=100)
    listener.handler.answer = lambda request, body, reply: reply.respond(200, [], b"x" * 20_000_000)
    client = await listener.connect()
    client.send(GET)
    await listener.settle(lambda: listener.handler.replies)
    client.send(GET * 30)
    await asyncio.sleep(0.1)
    assert len(listener.handler.replies) == 1
    for _ in range(3):
        assert len((await client.reply())[2]) == 20_000_000
    await client.close()


@pytest.mark.parametrize("failing", ["head", "answer"])
async def test_a_handler_that_fails_gives_500(listen, failing, caplog):
    listener = await listen()

    def fail(*_):
        raise RuntimeError("broken")

    setattr(listener.handler, failing, fail)
    got = await listener.exchange(POST)
    assert got.startswith(b"HTTP/1.1 500 Internal Server Error\r\nx-code: internal-error\r\n")
    assert listener.handler.bad == [(500, "internal-error")]
    assert "RuntimeError: broken" in caplog.text
    await listener.settle()
    assert listener.budget.used_bytes == 0


async def test_a_handler_that_fails_mid_reply_breaks_it(listen, caplog):
    listener = await listen()

    def fail(request, body, reply):
        reply.start(200, [], None)
        reply.write(b"x")
        raise RuntimeError("broken")

    listener.handler.answer = fail
    assert (await listener.exchange(GET)).endswith(b"1\r\nx\r\n")

    def fail_late(request, body, reply):
        reply.respond(200, [], b"whole")
        raise RuntimeError("late")

    listener.handler.answer = fail_late
    client = await listener.connect()
    for _ in range(2):
        client.send(GET)
        assert (await client.reply())[2] == b"whole"
    await client.close()
    assert "late" in caplog.text


@pytest.mark.parametrize("how", ["raise", "silent", "half"])
async def test_a_refusal_is_sent_even_if_the_handler_cannot_word_it(listen, how, caplog):
    listener = await listen()

    def worded(status, code, message, reply):
        if how == "raise":
            raise RuntimeError("broken")
        if how == "half":
            reply.start(status, [], None)

    listener.handler.worded = worded
    got = await listener.exchange(b"GET / HTTP/3.0\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 505 ")
    await listener.settle()


async def test_a_handler_that_fails_to_mourn_is_logged(listen, caplog):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: None

    def fail(reply):
        raise RuntimeError("broken")

    listener.handler.on_gone = fail
    client = await listener.connect()
    client.send(GET)
    await listener.settle(lambda: listener.handler.replies)
    await client.close()
    await listener.settle()
    assert "RuntimeError: broken" in caplog.text


async def test_p36_draining_ends_connections_after_their_reply(listen):
    listener = await listen()
    idle, busy = await listener.connect(), await listener.connect()
    listener.handler.answer = lambda request, body, reply: None
    busy.send(GET)
    await listener.settle(lambda: listener.handler.replies)
    assert len(listener.connections) == 2
    listener.connections.draining = True
    listener.connections.close_idle()
    assert await idle.all() == b""
    listener.handler.replies[0].respond(200, [], b"done")
    status, headers, body = await busy.reply()
    assert (status, headers["connection"], body) == (200, "close", b"done")
    assert await busy.all() == b""
    await idle.close()
    await busy.close()
    await listener.settle()


async def test_abort_all_ends_every_request(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(GET)
    await listener.settle(lambda: listener.handler.replies)
    listener.connections.abort_all()
    listener.connections.abort_all()
    assert listener.handler.gone == listener.handler.replies
    await client.close()
    await listener.settle()


async def test_a_pipelined_request_does_not_enter_the_call_that_ends_the_one_before(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(GET + GET)
    await listener.settle(lambda: listener.handler.replies)
    await asyncio.sleep(0.01)
    listener.handler.replies[0].respond(200, [], b"")
    assert len(listener.handler.replies) == 1
    await listener.settle(lambda: len(listener.handler.replies) == 2)
    await client.close()
