"""`ModelledEngine`: an HTTP engine that speaks vLLM's API and metrics, and takes the time that an engine model says.

It computes nothing: its answers are fixed words and its times are modelled, and are to be called so wherever they show.
"""

import asyncio
import base64
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any, Self

from aiohttp import web

from forebay.intake.media.dataurl import decode_data_url
from forebay.intake.media.probe import probe
from forebay.intake.tokens.family import Family
from forebay.intake.tokens.price import price
from forebay.intake.tokens.registry import build
from forebay.testing.timing import EngineModel

BYTES_PER_TOKEN = 4
WORDS = ("so", " it", " is", " modelled", ",", " not", " measured", ".")
SECONDS = 1e-6
MAX_BODY_BYTES = 64 * 1024 * 1024
MODEL = EngineModel()


class ModelledEngine:
    """One engine on 127.0.0.1. Use as `async with ModelledEngine() as engine: engine.url`.

    `family` prices media as the served model would; `speed` divides every modelled time, for short tests.
    """

    def __init__(
        self,
        model: str = "m",
        engine: EngineModel = MODEL,
        *,
        family: str = "qwen2.5-vl",
        speed: float = 1.0,
        port: int = 0,
    ) -> None:
        """Not started yet. `port` 0 takes a free one."""
        self.model = model
        self.engine = engine
        self.url = ""
        self.served = self.running = self.waiting = 0
        self.kv_tokens = 0
        self._family: Family = build(family)
        self._speed = speed
        self._port = port
        self._prompt_turn = asyncio.Lock()
        self._slots = asyncio.Semaphore(engine.slots)
        self._decoding = 0
        self._ids = itertools.count()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_get("/health", self._health)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_exception: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    # --- the API

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response()

    async def _models(self, _request: web.Request) -> web.Response:
        entry = {
            "id": self.model,
            "object": "model",
            "owned_by": "vllm",
            "max_model_len": self.engine.context_tokens,
        }
        return web.json_response({"object": "list", "data": [entry]})

    async def _metrics(self, _request: web.Request) -> web.Response:
        values = {
            "num_requests_running": self.running,
            "num_requests_waiting": self.waiting,
            "kv_cache_usage_perc": self.kv_tokens / self.engine.kv_tokens,
        }
        lines = [
            f'# TYPE vllm:{name} gauge\nvllm:{name}{{engine="0",model_name="{self.model}"}} {float(value)}\n'
            for name, value in values.items()
        ]
        blocks = self.engine.kv_tokens // 16
        lines.append(
            f'# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{{block_size="16",num_gpu_blocks="{blocks}"}} 1.0\n'
        )
        return web.Response(text="".join(lines))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        tokens, patches = self.prompt(body["messages"])
        wanted = int(body.get("max_tokens") or body.get("max_completion_tokens") or len(WORDS))
        usage = {"prompt_tokens": tokens, "completion_tokens": wanted, "total_tokens": tokens + wanted}
        identity = {"id": f"chatcmpl-{next(self._ids)}", "created": 0, "model": self.model}
        pieces = self._generate(tokens, patches, wanted)
        if not body.get("stream"):
            text = "".join([piece async for piece in pieces])
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response(
                identity | {"object": "chat.completion", "choices": [choice], "usage": usage}
            )
        asked = (body.get("stream_options") or {}).get("include_usage")
        return await self._stream(request, identity, pieces, usage if asked else None)

    async def _stream(
        self,
        request: web.Request,
        identity: dict[str, Any],
        pieces: AsyncIterator[str],
        usage: dict[str, int] | None,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        chunk = identity | {"object": "chat.completion.chunk"}

        async def send(delta: dict[str, str], reason: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            await response.write(b"data: " + json.dumps(chunk | {"choices": [choice]}).encode() + b"\n\n")

        first = True
        async for piece in pieces:
            if first:
                await send({"role": "assistant", "content": ""})
                first = False
            await send({"content": piece})
        await send({}, "stop")
        if usage is not None:
            await response.write(
                b"data: " + json.dumps(chunk | {"choices": [], "usage": usage}).encode() + b"\n\n"
            )
        await response.write(b"data: [DONE]\n\n")
        return response

    # --- the model

    def prompt(self, messages: list[dict[str, Any]]) -> tuple[int, int]:
        """Prompt tokens and encoder patches of a chat."""
        tokens = patches = 0
        for message in messages:
            content = message["content"]
            for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if part["type"] == "text":
                    tokens += max(1, len(part["text"].encode()) // BYTES_PER_TOKEN)
                else:
                    cost = self._media_cost(part)
                    tokens, patches = tokens + cost[0], patches + cost[1]
        return tokens, patches

    def _media_cost(self, part: dict[str, Any]) -> tuple[int, int]:
        if part["type"] == "input_audio":
            data = base64.b64decode(part["input_audio"]["data"])
        else:
            data = bytes(decode_data_url(part[part["type"]]["url"].encode()).data)
        header = probe(data)
        cost = price(self._family, header) if header is not None else None
        return (cost.prompt_tokens, cost.encoder_patches) if cost is not None else (1, 0)

    async def _generate(self, tokens: int, patches: int, wanted: int) -> AsyncIterator[str]:
        """Words, each when the modelled engine would have it."""
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        self.kv_tokens += tokens
        decoding = False
        try:
            async with self._prompt_turn:
                await asyncio.sleep(self.engine.prompt_us(patches, tokens) * SECONDS / self._speed)
            self._decoding += 1
            decoding = True
            for number in range(wanted):
                if number:
                    await self._step()
                yield WORDS[number % len(WORDS)]
            self.served += 1
        finally:
            self._decoding -= decoding
            self.kv_tokens -= tokens
            self.running -= 1
            self._slots.release()

    async def _step(self) -> None:
        """One decode step, which waits while a prompt is being worked on."""
        async with self._prompt_turn:
            pass
        await asyncio.sleep(self.engine.decode_step_us(self._decoding) * SECONDS / self._speed)
