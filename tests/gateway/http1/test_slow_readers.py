"""Clients that read slowly, after the last byte of their reply has been handed to the transport."""

import asyncio

import pytest

from forebay.gateway.http1.writing import waiting_bytes

SIZE = 20_000_000
KEEP = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
CLOSE = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
WAYS = {"kept": KEEP, "closing": CLOSE, "lingering": CLOSE + KEEP}


async def asked(listen, request, **limits):
    """A client whose large reply is on its way, and the server's side of it. Deadlines are looked at by hand."""
    listener = await listen(sweep_seconds=1000, **limits)
    listener.handler.answer = lambda request, body, reply: reply.respond(200, [], b"x" * SIZE)
    client = await listener.connect()
    client.send(request)
    await listener.settle(lambda: listener.handler.replies)
    (connection,) = listener.connections._open
    head = await client.reader.readuntil(b"\r\n\r\n")
    assert b"200 OK" in head
    return listener, client, connection


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_that_reads_on_gets_all_however_long_it_takes(listen, way):
    listener, client, connection = await asked(listen, WAYS[way])
    now = asyncio.get_running_loop().time()
    left, rounds = SIZE, 0
    while waiting := waiting_bytes(connection.transport):
        left -= len(await client.reader.readexactly(1_000_000))
        await listener.settle(lambda before=waiting: waiting_bytes(connection.transport) < before)
        if not waiting_bytes(connection.transport):
            break
        now = max(now, connection.deadline)
        connection.expire(now)
        assert connection.deadline == now + 60.0
        rounds += 1
    assert rounds > 3
    assert len(await client.reader.readexactly(left)) == left
    if way == "kept":
        client.send(KEEP)
        assert len((await client.reply())[2]) == SIZE
    else:
        assert await client.all() == b""
    await client.close()


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_that_stops_reading_is_cut_off(listen, way):
    listener, client, connection = await asked(listen, WAYS[way])
    waiting = -1
    while waiting != (waiting := waiting_bytes(connection.transport)):
        await asyncio.sleep(0.1)
    for _ in range(3):
        connection.expire(connection.deadline)
    await listener.settle()
    await client.close()


async def test_a_kept_connection_is_idle_from_when_its_reply_was_taken(listen):
    listener, client, connection = await asked(listen, KEEP)
    connection.deadline = 0.0
    await client.reader.readexactly(SIZE)
    await listener.settle(lambda: connection.writable)
    now = asyncio.get_running_loop().time()
    assert now < connection.deadline <= now + 75.0
    await client.close()


async def test_blank_lines_after_a_body_are_nothing_to_linger_for(listen):
    listener = await listen(sweep_seconds=1000)
    listener.handler.answer = lambda request, body, reply: None
    client = await listener.connect()
    client.send(CLOSE + b"\r\n")
    await listener.settle(lambda: listener.handler.replies)
    listener.handler.replies[0].respond(200, [], b"whole")
    assert (await client.reply())[2] == b"whole"
    await listener.settle()  # closed without waiting for the client to do so
    await client.close()
