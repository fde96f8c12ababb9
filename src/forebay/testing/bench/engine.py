"""A fake engine for the router benchmark: it speaks enough of vLLM's HTTP API, computes nothing and costs little.

Run as `python -m forebay.testing.bench.engine --port 18001`. Requests steer it with fields that every router knows:
`max_tokens` (or `max_completion_tokens`, as a router may call it anew) is the number of content chunks of a stream, and `seed` is the time between two chunks in microseconds
(0 sends all of them at once). For an engine with a believable speed see `ModelledEngine`.
"""

import argparse
import asyncio
from collections.abc import Callable
from typing import cast

import httptools
import msgspec
import uvloop

from forebay.testing.bench import wire

_VERSION = b'{"version":"0.11.0"}'
_MODELS = (
    b'{"object":"list","data":[{"id":"%b","object":"model","created":%d,"owned_by":"vllm","root":"%b","parent":null,'
    b'"max_model_len":32768,"permission":[]}]}' % (wire.MODEL.encode(), wire.CREATED, wire.MODEL.encode())
)
_GAUGES = (
    ("num_requests_running", "Number of requests in model execution batches."),
    ("num_requests_waiting", "Number of requests waiting to be processed."),
    ("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
)
_SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class _Ask(msgspec.Struct):
    """The fields of a chat completion that the fake engine obeys."""

    stream: bool = False
    stream_options: _StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    seed: int = 0

    @property
    def chunks(self) -> int:
        return max(1, self.max_completion_tokens or self.max_tokens or 1)


_read_ask = msgspec.json.Decoder(_Ask).decode


class _Count:
    """Requests in flight in this process."""

    running = 0


def _framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _answer(body: bytes, status: bytes = b"200 OK", kind: bytes = b"application/json") -> bytes:
    head = b"HTTP/1.1 %b\r\nserver: uvicorn\r\ncontent-length: %d\r\ncontent-type: %b\r\n\r\n"
    return head % (status, len(body), kind) + body


def metrics_text(running: int) -> bytes:
    """The three load gauges of vLLM in Prometheus text form."""
    values = {"num_requests_running": float(running), "kv_cache_usage_perc": min(1.0, running / 1024)}
    lines: list[str] = []
    for name, text in _GAUGES:
        lines += [
            f"# HELP vllm:{name} {text}",
            f"# TYPE vllm:{name} gauge",
            f'vllm:{name}{{engine="0",model_name="{wire.MODEL}"}} {values.get(name, 0.0)}',
        ]
    return ("\n".join(lines) + "\n").encode()


class EngineProtocol(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other."""

    def __init__(self) -> None:
        """Ready for the first request."""
        self._parser = httptools.HttpRequestParser(self)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._path = b""
        self._body: list[bytes] = []
        self._timer: asyncio.Handle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the socket is open."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transport is no subclass of it

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: the socket is gone; a stream that runs on it ends."""
        del exc
        if self._timer is not None:
            self._timer.cancel()
        self._transport = None
        self._ended()

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes came."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._write(_answer(b'{"error":"bad request"}', b"400 Bad Request"))
            if self._transport is not None:
                self._transport.close()

    def on_message_begin(self) -> None:
        """httptools: a request starts."""
        self._path = b""
        self._body.clear()

    def on_url(self, url: bytes) -> None:
        """httptools: a piece of the target."""
        self._path += url

    def on_body(self, data: bytes) -> None:
        """httptools: a piece of the body."""
        self._body.append(data)

    def on_message_complete(self) -> None:
        """httptools: the request is whole."""
        get = _GETS.get(self._path.partition(b"?")[0])
        if get is not None:
            self._write(get())
        elif self._path == b"/v1/chat/completions":
            self._chat(b"".join(self._body))
        else:
            self._write(_answer(b'{"detail":"Not Found"}', b"404 Not Found"))

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _chat(self, body: bytes) -> None:
        try:
            ask = _read_ask(body)
        except msgspec.DecodeError:
            self._write(
                _answer(b'{"error":{"message":"not a chat completion","code":400}}', b"400 Bad Request")
            )
            return
        digest, content = wire.body_digest(body), wire.content_digest(body)
        if not ask.stream:
            self._write(_answer(wire.reply(digest, content)))
            return
        usage = ask.stream_options is not None and ask.stream_options.include_usage
        self._stream(wire.StreamText(digest, content, ask.chunks, usage=usage), ask.seed)

    def _stream(self, text: wire.StreamText, interval_us: int) -> None:
        self._busy = True
        _Count.running += 1
        self._write(_SSE_HEAD + _framed(text.opening()))
        if interval_us > 0:
            self._await_tick(text, 0, self._loop.time(), interval_us / 1e6)
            return
        for index in range(text.count):
            self._write(_framed(text.chunk(index)))
        self._close_stream(text)

    def _await_tick(self, text: wire.StreamText, index: int, due: float, interval: float) -> None:
        """Ticks are due at fixed times, so that a late one does not make all later ones late."""
        due += interval
        self._timer = self._loop.call_at(due, self._tick, text, index, due, interval)

    def _tick(self, text: wire.StreamText, index: int, due: float, interval: float) -> None:
        self._write(_framed(text.chunk(index)))
        if index + 1 == text.count:
            self._close_stream(text)
        else:
            self._await_tick(text, index + 1, due, interval)

    def _close_stream(self, text: wire.StreamText) -> None:
        self._write(_framed(text.closing()) + b"0\r\n\r\n")
        self._ended()

    def _ended(self) -> None:
        if self._busy:
            self._busy = False
            _Count.running -= 1


_GETS: dict[bytes, Callable[[], bytes]] = {
    b"/health": lambda: _answer(b""),
    b"/version": lambda: _answer(_VERSION),
    b"/v1/models": lambda: _answer(_MODELS),
    b"/metrics": lambda: _answer(
        metrics_text(_Count.running), kind=b"text/plain; version=0.0.4; charset=utf-8"
    ),
}


async def serve(port: int, ready: Callable[[int], None] = lambda _port: None) -> None:
    """Listen on 127.0.0.1:`port` until cancelled. Port 0 picks a free one, which is told to `ready`."""
    server = await asyncio.get_running_loop().create_server(EngineProtocol, "127.0.0.1", port, backlog=4096)
    ready(server.sockets[0].getsockname()[1])
    try:
        await asyncio.Event().wait()
    finally:
        server.close()


def main(argv: list[str] | None = None) -> int:
    """Command line of the fake engine."""
    parser = argparse.ArgumentParser(prog="forebay.testing.bench.engine", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="TCP port on 127.0.0.1")
    uvloop.run(serve(parser.parse_args(argv).port))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
