"""A router that copies bytes: `python pass_through.py PORT ENGINE_PORT`. For the smoke test of the benchmark."""

import asyncio
import sys


async def copy(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


async def serve(reader, writer):
    inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    await asyncio.gather(copy(reader, inner_writer), copy(inner_reader, writer), return_exceptions=True)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
