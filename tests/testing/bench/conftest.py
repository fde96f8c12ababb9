"""An engine in the test's own loop, and a pass-through router that can be told to misbehave."""

import asyncio
import contextlib

import pytest

from forebay.testing.bench import engine


@contextlib.asynccontextmanager
async def running_engine():
    port = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(engine.serve(0, port.set_result))
    try:
        yield await port
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def pass_through(engine_port, change=lambda data: data):
    """A router that copies bytes both ways; `change` sees each piece of the answer."""
    tasks = set()

    async def copy(reader, writer, edit):
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(edit(data))
                await writer.drain()
        writer.close()

    async def serve(reader, writer):
        tasks.add(asyncio.current_task())
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", engine_port)
        await asyncio.gather(
            copy(reader, inner_writer, lambda data: data),
            copy(inner_reader, writer, change),
            return_exceptions=True,
        )

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0.02)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def engine_port():
    async with running_engine() as port:
        yield port
