"""The framing of replies, as clients see it."""

import asyncio

import pytest

POST = b"POST /v1/x?q=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
CLOSE = b"Connection: close\r\n\r\n"


async def test_streams_go_out_in_chunks_one_write_each(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: reply.start(
        200, [(b"content-type", b"text/event-stream")], None
    )
    client = await listener.connect()
    client.send(GET)
    await listener.settle(lambda: listener.handler.replies)
    (reply,) = listener.handler.replies
    assert reply.started
    assert not reply.finished
    for data in (b"data: 1\n\n", bytearray(b"x" * 20_000), memoryview(b"data: 3\n\n"), b""):
        reply.write(data)
    reply.end()
    assert reply.finished
    status, headers, body = await client.reply()
    assert (status, headers["transfer-encoding"]) == (200, "chunked")
    assert "connection" not in headers
    assert body == b"data: 1\n\n" + b"x" * 20_000 + b"data: 3\n\n"
    client.send(GET)
    await client.reply(body=False)
    await client.close()


async def test_http10_clients_get_what_they_understand(listen):
    listener = await listen()
    reply = await listener.exchange(b"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi")
    assert reply == b"HTTP/1.1 200 OK\r\nx-echo: 1\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
    kept = await listener.exchange(
        b"POST / HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", b"GET / HTTP/1.0\r\n\r\n"
    )
    assert kept.startswith(
        b"HTTP/1.1 200 OK\r\nx-echo: 1\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nhiHTTP/1.1 200 OK"
    )

    def stream(request, body, reply):
        reply.start(200, [], None)
        reply.write(b"a")
        reply.end()

    listener.handler.answer = stream
    assert await listener.exchange(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") == (
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\na"
    )


async def test_head_may_be_answered_whole(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: reply.respond(200, [], b"12345")
    got = await listener.exchange(b"HEAD / HTTP/1.1\r\nHost: h\r\n" + CLOSE)
    assert got == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\n"


async def test_large_replies_go_out_without_being_joined(listen):
    listener = await listen()
    body = b"0123456789" * 100_000
    listener.handler.answer = lambda request, _, reply: reply.respond(200, [], body)
    client = await listener.connect()
    client.send(GET)
    assert (await client.reply())[2] == body
    await client.close()


async def test_a_reply_that_is_short_of_its_length_breaks_the_connection(listen):
    listener = await listen()

    def answer(request, body, reply):
        reply.start(200, [], 10)
        reply.write(b"short")
        reply.end()
        reply.end()
        reply.write(b"late")
        reply.start(200, [], 0)
        reply.respond(200, [], b"")

    listener.handler.answer = answer
    assert (await listener.exchange(GET)).endswith(b"\r\n\r\nshort")


async def test_an_aborted_reply_is_seen_to_be_broken(listen):
    listener = await listen()

    def answer(request, body, reply):
        reply.start(200, [], None)
        reply.write(b"part")
        reply.abort()
        reply.abort()

    listener.handler.answer = answer
    got = await listener.exchange(GET)
    assert got.endswith(b"4\r\npart\r\n")
    with pytest.raises(ConnectionResetError):
        await listener.exchange(b"GET / HTTP/1.0\r\n\r\n")
    await listener.settle()
    assert listener.handler.gone == []


async def test_back_pressure_is_told_both_ways(listen):
    listener = await listen()
    told = []

    def answer(request, body, reply):
        reply.start(200, [], None)
        reply.on_writable = told.append

    listener.handler.answer = answer
    client = await listener.connect()
    client.send(GET)
    await listener.settle(lambda: listener.handler.replies)
    (reply,) = listener.handler.replies
    sent = 0
    while reply.writable:
        reply.write(b"x" * 65_536)
        sent += 65_536
        await asyncio.sleep(0)
    assert told == [False]
    await client.reader.readuntil(b"\r\n\r\n")
    async with asyncio.timeout(30):
        while not reply.writable:
            await client.reader.read(1 << 20)
    assert told == [False, True]
    await client.close()


async def test_room_is_given_back_as_soon_as_the_body_is_let_go(listen):
    listener = await listen()
    listener.handler.answer = lambda request, body, reply: reply.start(200, [], None)
    client = await listener.connect()
    client.send(POST)
    await listener.settle(lambda: listener.handler.replies)
    assert listener.budget.used_bytes == 5
    (reply,) = listener.handler.replies
    reply.release_body()
    assert listener.budget.used_bytes == 0
    reply.end()
    reply.release_body()
    assert (await client.reply())[0] == 200
    assert listener.budget.used_bytes == 0
    await client.close()
