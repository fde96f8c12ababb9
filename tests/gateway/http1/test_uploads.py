"""Uploads wait for room in what is held at once, and not for ever."""

import asyncio

HOST = b"Host: h\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST
CHUNKED = b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


async def test_uploads_wait_for_room_and_go_on_when_there_is(listen):
    listener = await listen(max_buffered_bytes=100_000)
    listener.handler.answer = lambda request, body, reply: None
    first, second = await listener.connect(), await listener.connect()
    first.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 150000\r\n\r\n" + b"a" * 99_000)
    await listener.settle(lambda: listener.budget.used_bytes >= 99_000)
    first.send(b"a" * 51_000)
    await listener.settle(lambda: listener.budget.used_bytes >= 100_000)
    # The first is whole or waits; the second waits before its body is read, and is not asked to go on.
    second.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    await asyncio.sleep(0.05)
    assert len(listener.handler.requests) == 2
    assert listener.budget.waiting >= 1
    if not listener.handler.replies:
        listener.budget.max_bytes = 10_000_000
        listener.budget.give(0)
    await listener.settle(lambda: listener.handler.replies)
    listener.handler.replies[0].respond(200, [], b"")
    await first.reply()
    assert await second.reader.readexactly(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
    second.send(b"hello")
    await listener.settle(lambda: len(listener.handler.replies) == 2)
    assert listener.handler.bodies[1] == b"hello"
    listener.handler.replies[1].respond(200, [], b"")
    await second.reply()
    await first.close()
    await second.close()
    await listener.settle()
    assert listener.budget.used_bytes == 0


async def test_a_small_body_waits_for_room_too(listen):
    listener = await listen(max_buffered_bytes=1000)
    listener.budget.take(1000)
    client = await listener.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello" + GET + b"\r\n")
    await asyncio.sleep(0.03)
    assert listener.handler.bodies == []
    listener.budget.give(1000)
    assert (await client.reply())[2] == b"hello"
    assert (await client.reply())[0] == 200
    await client.close()


async def test_uploads_do_not_wait_for_room_for_ever(listen):
    listener = await listen(max_buffered_bytes=1000, buffer_wait_seconds=0.1)
    listener.handler.answer = lambda request, body, reply: None
    clients = [await listener.connect() for _ in range(3)]
    for client in clients:
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" + b"x" * 900)
        await asyncio.sleep(0.005)
    for client in clients:
        client.send(b"x" * 2000)
    statuses = {(await client.reply())[0] for client in clients[-1:]}
    assert statuses == {503}
    assert (503, "buffers-full") in listener.handler.bad
    for client in clients:
        await client.close()
    await listener.settle()
    assert listener.budget.used_bytes == 0
    assert listener.budget.waiting == 0


async def test_a_chunked_upload_waits_for_room(listen):
    listener = await listen(max_buffered_bytes=1000)
    client = await listener.connect()
    listener.budget.take(1)  # somebody else's, who will give it back
    client.send(CHUNKED + b"800\r\n" + b"x" * 2048 + b"\r\n")
    await listener.settle(lambda: listener.budget.waiting == 1)
    client.send(b"1\r\ny\r\n0\r\n\r\n")
    await asyncio.sleep(0.02)
    assert listener.handler.bodies == []
    listener.budget.max_bytes = 10_000
    listener.budget.give(0)
    assert (await client.reply())[2] == b"x" * 2048 + b"y"
    await client.close()
