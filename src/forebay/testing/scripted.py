"""An engine that follows a script to the byte: for what no sound engine does, at the moment that a test wants it."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

HEAD_END = b"\r\n\r\n"
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: on, 0 seconds


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """Break the connection with a TCP reset."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection cleanly."""


Action = bytes | Pause | Reset | Close


@dataclass(slots=True)
class Received:
    """One request as it came, and over which connection, counted from 1."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int = 0


Script = Callable[[Received], Sequence[Action]]


def reply(
    body: bytes, status: str = "200 OK", content_type: str = "application/json", extra: str = ""
) -> bytes:
    """A whole reply with a length. `extra` are further header lines, each ended by CR LF."""
    head = f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def stream_head(extra: str = "") -> bytes:
    """The head of a stream that ends when the connection closes."""
    return f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{extra}connection: close\r\n\r\n".encode()


@dataclass
class ScriptedEngine:
    """Serves on 127.0.0.1; `script` answers POSTs, GETs are answered as an idle vLLM would. Use as `async with`.

    With `kept_responses` the script also answers GETs below /v1/responses.

    `pages` are whole replies to GETs, by path, in place of the idle ones; they may be changed while it serves.

    `received` are the POSTs in order; `open_connections` those that still wait or are being answered; `closed_early` counts
    connections that the other side closed before the script was through.
    """

    script: Script
    model: str = "m"
    pages: dict[str, bytes] = field(default_factory=dict)
    kept_responses: bool = False
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    busy: int = 0
    closed_early: int = 0
    url: str = ""
    _server: asyncio.Server | None = None
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=64 * 1024 * 1024)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_exception: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            while (request := await _read(reader, number)) is not None:
                if not await self._serve(request, reader, writer):
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request. False when the connection is over."""
        if request.method == "GET" and not (self.kept_responses and request.path.startswith("/v1/responses")):
            writer.write(self.pages.get(request.path) or _idle_answer(request.path, self.model))
            await writer.drain()
            return True
        self.received.append(request)
        self.busy += 1
        try:
            return await self._play(self.script(request), reader, writer)
        finally:
            self.busy -= 1

    async def _play(
        self, actions: Sequence[Action], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for action in actions:
            if isinstance(action, bytes):
                writer.write(action)
                await writer.drain()
            elif isinstance(action, Pause):
                if await _left_within(reader, action.seconds):
                    self.closed_early += 1
                    return False
            else:
                if isinstance(action, Reset):
                    _arm_reset(writer)
                return False
        return True


async def _left_within(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Wait, and tell whether the other side closed meanwhile."""
    try:
        return not await asyncio.wait_for(reader.read(1), seconds)
    except TimeoutError:
        return False


def _arm_reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)


async def _read(reader: asyncio.StreamReader, connection: int) -> Received | None:
    try:
        head = await reader.readuntil(HEAD_END)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head[: -len(HEAD_END)].decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body, connection)


def _idle_answer(path: str, model: str) -> bytes:
    if path == "/metrics":
        names = ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")
        text = "".join(
            f'# TYPE vllm:{name} gauge\nvllm:{name}{{model_name="{model}"}} 0.0\n' for name in names
        )
        return reply(text.encode(), content_type="text/plain")
    if path == "/v1/models":
        listing = f'{{"object":"list","data":[{{"id":"{model}","object":"model","owned_by":"vllm"}}]}}'
        return reply(listing.encode())
    if path == "/health":
        return reply(b"")
    return reply(b'{"detail":"Not Found"}', "404 Not Found")
