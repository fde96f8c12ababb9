"""A listener with a handler that does as it is told, and a client that speaks raw bytes."""

import asyncio
import contextlib

import pytest
import pytest_asyncio
import uvloop

from forebay.gateway.http1.budget import BufferBudget
from forebay.gateway.http1.connections import Connections
from forebay.gateway.http1.limits import InboundLimits
from forebay.gateway.http1.upstream import Upstreams

REQUEST = b"POST /v1/x HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n"


def pytest_asyncio_loop_factories(config, item):
    """The loop that is served in production."""
    return {"uvloop": uvloop.new_event_loop}


class Teller:
    """A handler that keeps what it was told and answers with the body it got, unless a test sets another answer."""

    def __init__(self):
        self.requests = []
        self.bodies = []
        self.replies = []
        self.gone = []
        self.bad = []
        self.max_body_bytes = 1024 * 1024
        self.head = lambda request, reply: None
        self.answer = lambda request, body, reply: reply.respond(200, [(b"x-echo", b"1")], bytes(body))
        self.worded = lambda status, code, message, reply: reply.respond(
            status, [(b"x-code", code.encode())], message.encode()
        )

    def on_head(self, request, reply):
        self.requests.append(request)
        self.head(request, reply)
        return self.max_body_bytes

    def on_body(self, request, body, reply):
        self.bodies.append(body)
        self.replies.append(reply)
        self.answer(request, body, reply)

    def on_gone(self, reply):
        self.gone.append(reply)

    def on_bad(self, status, code, message, reply):
        self.bad.append((status, code))
        self.worded(status, code, message, reply)


class Listener:
    """One listener on a free port of 127.0.0.1."""

    def __init__(self, connections, handler, port):
        self.connections = connections
        self.handler = handler
        self.port = port
        self.budget = connections.budget
        self.clients = []

    async def connect(self):
        """A raw client."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        client = Client(reader, writer)
        self.clients.append(client)
        return client

    async def exchange(self, *pieces):
        """Send pieces on a fresh connection, each in its own segment, and return all that comes until the end."""
        client = await self.connect()
        for piece in pieces:
            client.writer.write(piece)
            await asyncio.sleep(0.001)
        try:
            return await client.all()
        finally:
            await client.close()

    async def settle(self, condition=None, seconds=30.0):
        """Wait until the condition holds (without one: until no connection is open)."""
        condition = condition or (lambda: not len(self.connections))
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.005)


class Client:
    """Raw bytes out, raw or parsed replies in."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    def send(self, data):
        self.writer.write(data)

    async def all(self):
        """Everything until the other side ends."""
        async with asyncio.timeout(30):
            return await self.reader.read()

    async def reply(self, *, body=True):
        """Status, headers (a dict) and body of one reply with a content-length or in chunks."""
        async with asyncio.timeout(30):
            head = await self.reader.readuntil(b"\r\n\r\n")
            lines = head.decode().split("\r\n")[:-2]
            headers = dict(line.split(": ", 1) for line in lines[1:])
            content = b""
            if body and headers.get("transfer-encoding") == "chunked":
                while size := int(await self.reader.readuntil(b"\r\n"), 16):
                    content += (await self.reader.readexactly(size + 2))[:-2]
                assert await self.reader.readexactly(2) == b"\r\n"
            elif body:
                content = await self.reader.readexactly(int(headers.get("content-length", 0)))
            return int(lines[0].split(" ")[1]), headers, content

    async def close(self):
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


@pytest_asyncio.fixture
async def listen():
    """Makes listeners; limits by keyword."""
    servers = []

    async def make(handler=None, max_buffered_bytes=512 * 1024 * 1024, **limits):
        loop = asyncio.get_running_loop()
        handler = handler or Teller()
        limits.setdefault("sweep_seconds", 0.02)
        connections = Connections(loop, handler, InboundLimits(**limits), BufferBudget(max_buffered_bytes))
        server = await loop.create_server(connections.protocol, "127.0.0.1", 0)
        listener = Listener(connections, handler, server.sockets[0].getsockname()[1])
        servers.append((server, listener))
        return listener

    yield make
    for server, listener in servers:
        server.close()
        for client in listener.clients:
            client.writer.transport.abort()
        listener.connections.abort_all()
        async with asyncio.timeout(30):
            await server.wait_closed()
    await asyncio.sleep(0.01)


class Ear:
    """A sink that keeps what it hears."""

    def __init__(self):
        self.heard = []
        self.ended = asyncio.Event()
        self.act = lambda what: None

    def hear(self, what, *rest):
        self.heard.append((what, *rest))
        if what in {"end", "lost"}:
            self.ended.set()
        self.act(what)

    def on_connecting(self):
        self.hear("connecting")

    def on_connected(self):
        self.hear("connected")

    def on_head(self, status, headers):
        self.hear("head", status, headers)

    def on_data(self, data):
        self.hear("data", data)

    def on_end(self):
        self.hear("end")

    def on_lost(self, kind, detail):
        self.hear("lost", kind, detail)

    async def end(self):
        async with asyncio.timeout(30):
            await self.ended.wait()
        return self

    @property
    def names(self):
        return [what for what, *_ in self.heard]

    @property
    def body(self):
        return b"".join(rest[0] for what, *rest in self.heard if what == "data")

    @property
    def lost(self):
        return [rest[0] for what, *rest in self.heard if what == "lost"]


class Engine:
    """A raw engine: `script` is run for each connection with its reader and writer."""

    def __init__(self):
        self.script = None
        self.connections = 0
        self.heads = []
        self.tasks = []
        self.port = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader, writer):
        self.connections += 1
        self.tasks.append(asyncio.current_task())
        try:
            await self.script(self, reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    def replies(self, *raw, then=None):
        """Answer each request of a connection with the next of these bytes."""

        async def script(engine, reader, writer):
            for reply in raw:
                await engine.request(reader)
                writer.write(reply)
                await writer.drain()
            await (then(engine, reader, writer) if then is not None else reader.read())

        self.script = script

    def ear(self):
        """A sink."""
        return Ear()

    async def call(self, upstreams, head=None, body=(b"hi",)):
        """One whole call; what its sink heard."""
        ear = Ear()
        upstreams.send(self.url, REQUEST if head is None else head, body, ear)
        return await ear.end()

    async def request(self, reader):
        """Read one whole request with a content-length."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        lines = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        return await reader.readexactly(int(lines[0].split(b":")[1])) if lines else b""


@pytest_asyncio.fixture
async def engine():
    """A raw engine on a free port."""
    engine = Engine()
    server = await asyncio.start_server(engine.serve, "127.0.0.1", 0)
    engine.port = server.sockets[0].getsockname()[1]
    yield engine
    server.close()
    for task in engine.tasks:
        task.cancel()
    await asyncio.gather(*engine.tasks, return_exceptions=True)
    async with asyncio.timeout(30):
        await server.wait_closed()
    await asyncio.sleep(0.01)


@pytest.fixture
def teller():
    return Teller()


@pytest_asyncio.fixture
async def upstreams():
    upstreams = Upstreams(
        asyncio.get_running_loop(), connect_timeout_seconds=1.0, idle_seconds=2.0, max_idle_per_endpoint=4
    )
    yield upstreams
    upstreams.close()
    await asyncio.sleep(0.02)
