"""Whole messages between two ends."""

import asyncio
import contextlib
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.runtime import channel
from forebay.runtime.channel import Channel


class End:
    """One end, and what it was told."""

    def __init__(self):
        self.messages = []
        self.lost = asyncio.Event()
        self.eased = asyncio.Event()
        self.channel = Channel(self.messages.append, self.lost.set, self.eased.set)

    async def got(self, count):
        async with asyncio.timeout(30):
            while len(self.messages) < count:
                await asyncio.sleep(0.001)
        return self.messages


@contextlib.asynccontextmanager
async def ends():
    loop = asyncio.get_running_loop()
    one, other = End(), End()
    for end, sock in zip((one, other), socket.socketpair(), strict=True):
        sock.setblocking(False)
        await loop.create_connection(lambda end=end: end.channel, sock=sock)
    yield one, other
    one.channel.close()
    other.channel.close()
    async with asyncio.timeout(30):
        await one.lost.wait()
        await other.lost.wait()


async def test_messages_come_whole_and_in_order_both_ways():
    async with ends() as (one, other):
        sent = [b"", b"a", b"x" * 300_000, b"end"]
        for message in sent:
            one.channel.send(message)
        other.channel.send(b"back")
        assert await other.got(4) == sent
        assert await one.got(1) == [b"back"]


async def test_the_other_end_is_missed():
    async with ends() as (one, other):
        one.channel.send(b"last words")
        one.channel.close()
        async with asyncio.timeout(30):
            await other.lost.wait()
        assert other.messages == [b"last words"]
        assert not other.channel.room
        other.channel.send(b"to nobody")


async def test_a_slow_reader_shows(monkeypatch):
    async with ends() as (one, other):
        assert one.channel.room
        other.channel._transport.pause_reading()
        while one.channel.room:
            one.channel.send(b"x" * 100_000)
        other.channel._transport.resume_reading()
        async with asyncio.timeout(30):
            await one.eased.wait()
        assert one.channel.room


async def test_what_is_too_long_is_neither_sent_nor_awaited(monkeypatch):
    async with ends() as (one, other):
        monkeypatch.setattr(channel, "MOST_BYTES", 1000)
        with pytest.raises(ValueError, match="too long"):
            one.channel.send(b"x" * 1001)
        one.channel._transport.write((1001).to_bytes(4, "little"))
        async with asyncio.timeout(30):
            await other.lost.wait()
        assert other.messages == []


@given(messages=st.lists(st.binary(max_size=40), max_size=6), data=st.data())
def test_however_the_bytes_are_cut(messages, data):
    got = []
    end = Channel(got.append, lambda: None)
    whole = b"".join(len(message).to_bytes(4, "little") + message for message in messages)
    while whole:
        cut = data.draw(st.integers(1, len(whole)))
        end.data_received(whole[:cut])
        whole = whole[cut:]
    assert got == messages
