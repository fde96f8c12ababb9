"""The HTTP of a modelled engine."""

import contextlib
import dataclasses
import itertools
from collections.abc import AsyncIterator, Mapping
from typing import Any, Self

import msgspec
from aiohttp import web

from forebay.intake.refusal import Refusal
from forebay.intake.tokens.family import Family
from forebay.intake.tokens.registry import build
from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.shape import QWEN3_VL_8B, ModelShape
from forebay.simulator.engine.steps import StepModel
from forebay.simulator.world import Overheads
from forebay.testing.modelled.generation import Generation
from forebay.testing.modelled.reading import APIS, Asked, read
from forebay.testing.modelled.truth import Truth
from forebay.testing.modelled.words import DONE, Answer

MAX_BODY_BYTES = 64 * 1024 * 1024
CONTEXT_TOKENS = 262_144
"""Qwen3-VL-8B's, by its published configuration."""
SAYS = {"server": "forebay-modelled-engine"}
"""In every reply: that it is a model."""
JSON = {**SAYS, "content-type": "application/json"}
SETTINGS = EngineSettings()
OVERHEADS = Overheads()


class ModelledEngine:
    """One engine on 127.0.0.1. Use as `async with ModelledEngine() as engine: engine.url`.

    `device` and `shape` say whose times it takes, as in the simulator, `slower` times as long for a device that is ill. `family`
    prices media as the served model would: a family's name, or a mapping with `name` and its parameters.
    `speed` divides every modelled time: 50 for short tests, 1/3 where many engines share a small machine.
    `chunk_tokens` are the tokens of one piece of a stream after the first, as vLLM's `--stream-interval`.
    While it serves, `running` and `waiting` requests, `kv_tokens`, and the `truths` of requests that are over can be looked at.
    """

    def __init__(
        self,
        model: str = "m",
        *,
        device: str = "a100-sxm",
        slower: float = 1.0,
        shape: ModelShape = QWEN3_VL_8B,
        family: str | Mapping[str, Any] = "qwen2.5-vl",
        settings: EngineSettings = SETTINGS,
        overheads: Overheads = OVERHEADS,
        speed: float = 1.0,
        chunk_tokens: int = 1,
        port: int = 0,
    ) -> None:
        """Not started yet. `port` 0 takes a free one. Raises UnknownDevice, and ValueError for an unknown family."""
        self.model = model
        self.url = ""
        self.served = 0
        self._engine = Engine(
            StepModel(load_device(device), shape, slower), dataclasses.replace(settings, coalesce=False)
        )
        self._family = _family(family)
        self._overheads = overheads
        self._speed = speed
        self._chunk_tokens = chunk_tokens
        self._port = port
        self._ids = itertools.count()
        self._generation: Generation
        self._runner: web.AppRunner

    async def __aenter__(self) -> Self:
        self._generation = Generation(
            self.model, self._engine, self._speed, self._overheads, self._chunk_tokens
        )
        # A request whose client goes is aborted, as vLLM does it.
        self._runner = web.AppRunner(
            self._app(), access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_exception: object) -> None:
        self._generation.close()
        await self._runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_get("/health", self._health)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/modelled/truth", self._truth)
        for path in APIS:
            app.router.add_post(path, self._generate)
        return app

    # --- for tests to look at

    @property
    def running(self) -> int:
        """Requests that are being worked on."""
        return self._engine.running

    @property
    def waiting(self) -> int:
        """Requests that nothing has been done for."""
        return self._engine.queued

    @property
    def capacity_tokens(self) -> int:
        """Tokens that its KV cache holds."""
        return self._engine.capacity_tokens

    @property
    def kv_tokens(self) -> int:
        """Tokens that running requests hold in the KV cache."""
        return self._generation.pace.kv_tokens()

    @property
    def truths(self) -> list[Truth]:
        """What became of each request that is over, oldest first."""
        return list(self._generation.truths.done)

    # --- the API

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(headers=SAYS)

    async def _models(self, _request: web.Request) -> web.Response:
        entry = {"id": self.model, "object": "model", "owned_by": "vllm", "max_model_len": CONTEXT_TOKENS}
        return _json({"object": "list", "data": [entry]})

    async def _metrics(self, _request: web.Request) -> web.Response:
        text = self._generation.metrics.text()
        return web.Response(body=text, headers={**SAYS, "content-type": "text/plain; version=0.0.4"})

    async def _truth(self, _request: web.Request) -> web.Response:
        return _json(self.truths)

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        api = APIS[request.path]
        try:
            asked = read(api, await request.read(), self._family)
        except Refusal as refusal:
            error = {"message": refusal.message, "type": "BadRequestError", "code": refusal.status}
            return _json({"error": error}, refusal.status)
        tokens = (asked.prompt_tokens, asked.output_tokens)
        answer = Answer(api, next(self._ids), self.model, tokens, usage_always=asked.usage_always)
        pieces = self._generation.pieces(asked, request.headers.get("x-request-id", ""))
        async with contextlib.aclosing(pieces):
            if asked.stream:
                response = await _stream(request, asked, answer, pieces)
            else:
                async for _ in pieces:
                    pass
                response = web.Response(body=answer.whole(), headers=JSON)
        self.served += 1
        return response


async def _stream(
    request: web.Request, asked: Asked, answer: Answer, pieces: AsyncIterator[int]
) -> web.StreamResponse:
    response = web.StreamResponse(headers={**SAYS, "content-type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    written = 0
    async for tokens in pieces:
        piece = answer.piece(written, tokens)
        await response.write(piece if written else answer.opening() + piece)
        written += tokens
    await response.write((answer.usage() if asked.usage else b"") + DONE)
    return response


def _family(given: str | Mapping[str, Any]) -> Family:
    if isinstance(given, str):
        return build(given)
    return build(given["name"], {key: value for key, value in given.items() if key != "name"})


def _json(what: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(what), status=status, headers=JSON)
