"""Bodies, streams and raw clients for the end-to-end tests."""

import asyncio
import base64
import contextlib
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

from forebay.testing.scripted import Pause, reply

CASES = Path(__file__).parent.parent / "cases"
CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
DONE = b"data: [DONE]\n\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
CHUNKED = SSE_HEAD + b"transfer-encoding: chunked\r\n\r\n"
UNTIL_CLOSE = SSE_HEAD + b"connection: close\r\n\r\n"
# Long enough that nothing in a test lives to its end.
FOR_EVER = Pause(60)


def case(name):
    """A file of the public cases."""
    return (CASES / name).read_bytes()


def chat(text="hi", **more):
    """A chat for model `m`."""
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def parts(*content, **more):
    """A chat whose one message has these parts."""
    return chat(list(content), **more)


def image(data, mime="image/png"):
    """An image part."""
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def chunk(model="m", finish=None, **delta):
    """One event of a chat stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def role():
    """The preamble."""
    return chunk(role="assistant", content="")


def says(*words):
    """A whole chat stream without its head."""
    return b"".join([role(), *(chunk(content=word) for word in words), chunk(finish="stop"), DONE])


def piece(data):
    """One chunk of the chunked coding."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def stream(data):
    """A whole reply that streams `data`, framed so that the connection can be kept."""
    return CHUNKED + piece(data) + b"0\r\n\r\n"


def answer(text="ok", model="m", tokens=(5, 2)):
    """A whole chat reply."""
    message = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [message],
        "usage": usage,
    }
    return reply(json.dumps(body).encode())


def refusal(status, message="no", extra=""):
    """An engine's error reply."""
    return reply(json.dumps({"error": {"message": message}}).encode(), status, extra=extra)


def text_of(sse):
    """The joined content of a chat stream."""
    chunks = [json.loads(line[6:]) for line in sse.splitlines() if line.startswith(b"data: {")]
    choices = [choice for data in chunks for choice in data.get("choices", [])]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def events(sse):
    """The JSON payloads of a stream."""
    return [json.loads(line[6:]) for line in sse.splitlines() if line.startswith(b"data: {")]


def abilities_known(gateway):
    """Whether the eyes have seen what each endpoint can do."""
    views = [row.view for row in gateway.station.rows()]
    return all(view is not None and view.abilities is not None for view in views)


async def eventually(condition, seconds=30.0):
    """Wait until `condition()` is true, and return what it gave."""
    async with asyncio.timeout(seconds):
        while not (found := condition()):
            await asyncio.sleep(0.002)
    return found


class Client:
    """A raw HTTP/1.1 client that can read a little, or leave, or not read at all."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, url, receive_bytes=0):
        """Connect to a base URL. A small receive buffer keeps the kernel from reading for a client that does not."""
        at = urlsplit(url)
        sock = socket.socket()
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, (at.hostname, at.port))
        except OSError:
            sock.close()
            raise
        client = cls(*await asyncio.open_connection(sock=sock))
        try:
            yield client
        finally:
            client.writer.transport.abort()
            with contextlib.suppress(OSError):
                await client.writer.wait_closed()

    def ask(self, body, path=CHAT, headers=""):
        """Send a POST."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n{headers}\r\n"
        self.writer.write(head.encode() + data)

    async def until(self, text, seconds=30.0):
        """Read up to `text`, and return all of it."""
        async with asyncio.timeout(seconds):
            return await self.reader.readuntil(text)

    async def all(self, seconds=30.0):
        """Read to the end, however it comes. Returns what came."""
        got = bytearray()
        async with asyncio.timeout(seconds):
            with contextlib.suppress(ConnectionError):
                while data := await self.reader.read(1 << 20):
                    got += data
        return bytes(got)

    async def whole(self, seconds=30.0):
        """Read one reply with a length. Returns its head and its body."""
        head = await self.until(b"\r\n\r\n", seconds)
        lines = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        size = int(lines[0].split(b":")[1]) if lines else 0
        async with asyncio.timeout(seconds):
            return head, await self.reader.readexactly(size)

    def leave(self):
        """Break the connection now."""
        self.writer.transport.abort()


def pool(*engines, model="m", **more):
    """One pool of these engines, in the file's shape."""
    endpoints = [{"url": engine.url, "engine": "vllm"} for engine in engines]
    return [{"model": model, "family": "qwen2-vl", "endpoints": endpoints, **more}]


def serving(model="m", **more):
    """Pools of one model under the names of the cases' files, which speak of the engine's model as `eng`."""

    def of(*engines):
        endpoints = [{"url": engine.url, "engine": "vllm"} for engine in engines]
        return [{"model": model, "family": "qwen2-vl", "endpoints": endpoints, **more}]

    return of
