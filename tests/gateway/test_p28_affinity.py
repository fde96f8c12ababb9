"""P28 over real sockets: requests that begin alike go to one engine, until it is crowded."""

import asyncio
import contextlib
from collections import Counter

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import CHAT, MESSAGES, answer, case, chat, eventually, image, parts

# Some 100 blocks of 256 bytes: what a long system prompt has.
HOT = "Answer as the keeper of a dam would, who knows every sluice. " * 400


class Gate(ScriptedEngine):
    """Holds every answer back until `open` is set."""

    def __init__(self):
        super().__init__(lambda _request: [answer()])
        self.open = asyncio.Event()

    async def _play(self, actions, reader, writer):
        await self.open.wait()
        return await super()._play(actions, reader, writer)


@contextlib.asynccontextmanager
async def two(**settings):
    """Two gated engines behind a gateway with affinity, and whatever is still held let go at the end."""
    async with Gate() as a, Gate() as b:
        pools = [
            {
                "model": "m",
                "family": "qwen2-vl",
                "profile": {"name": "prefix-affinity", **settings},
                "endpoints": [{"url": engine.url, "engine": "vllm"} for engine in (a, b)],
            }
        ]
        async with LiveGateway(pools=pools) as gateway, asyncio.TaskGroup() as tasks:
            yield a, b, gateway, tasks
            a.open.set()
            b.open.set()


async def drained(gateway, engine, verb):
    path = f"/forebay/endpoints/{engine.url.removeprefix('http://')}/{verb}"
    async with gateway.session.post(gateway.admin_url + path) as response:
        assert response.status == 200


@contextlib.asynccontextmanager
async def only(gateway, other):
    """Requests go anywhere but there."""
    await drained(gateway, other, "drain")
    yield
    await drained(gateway, other, "undrain")


ROUTES = {
    "chat": (CHAT, chat("hello")),
    "messages": (MESSAGES, chat("hello", max_tokens=5)),
    "completions": ("/v1/completions", {"model": "m", "prompt": "hello"}),
    "embeddings": ("/v1/embeddings", {"model": "m", "input": "hello"}),
    "responses": ("/v1/responses", {"model": "m", "input": "hello"}),
    "rerank": ("/v1/rerank", {"model": "m", "query": "hello", "documents": ["world"]}),
    "pooling": ("/pooling", {"model": "m", "input": "hello"}),
    "tokenize": ("/tokenize", {"model": "m", "prompt": "hello"}),
}


@pytest.mark.parametrize("route", ROUTES)
async def test_p28_unseen_prompts_keep_off_an_engine_that_any_route_keeps_busy(route):
    path, body = ROUTES[route]
    async with two() as (a, b, gateway, tasks):
        async with only(gateway, b):
            for _ in range(20):
                tasks.create_task(gateway.post(body, path))
            await eventually(lambda: a.busy == 20, 30)
        b.open.set()
        for number in range(10):
            assert (
                await gateway.post(chat(f"Question {number}: " + "of dams and weirs. " * 50))
            ).status == 200
        assert len(b.received) >= 8


@pytest.mark.parametrize("stream", [False, True])
async def test_p28_a_hot_prefix_spills_over_before_it_crowds_the_engine_that_holds_it(stream):
    async with two() as (a, b, gateway, tasks):
        async with only(gateway, b):
            first = tasks.create_task(gateway.post(chat(HOT)))
            await eventually(lambda: a.busy, 30)
            a.open.set()
            assert (await first).status == 200
            a.open.clear()
        for number in range(50):
            tasks.create_task(gateway.post(chat(f"{HOT} {number}", stream=stream)))
        await eventually(lambda: a.busy + b.busy == 50, 30)
        # ceil(1.25 x 50 / 2) at most; and once some have spilled over, the other holds the prefix as well.
        assert 18 <= a.busy <= 32


async def test_p28_a_picture_returns_to_its_engine_and_pictures_under_one_text_part():
    pictures = [case("p10_gray16_64x48.png"), case("p10_palette_alpha_64x48.png"), case("p10_cmyk_64x48.jpg")]
    pictures += [
        case("p10_still_64x48.webp"),
        case("p10_progressive_64x48.jpg"),
        case("p07_exif6_420x140.jpg"),
    ]
    asked = {"type": "text", "text": "What is this?"}
    async with two() as (a, b, gateway, _tasks):
        a.open.set()
        b.open.set()

        async def engine_of(number):
            request_id = f"p{number}-{len(a.received) + len(b.received)}"
            body = parts(image(pictures[number]), asked)
            assert (await gateway.post(body, headers={"x-request-id": request_id})).status == 200
            (decision,) = (await gateway.story(request_id))["decisions"]
            return decision

        first = [await engine_of(number) for number in range(len(pictures))]
        again = [await engine_of(number) for number in reversed(range(len(pictures)))]
        assert [d["chosen"] for d in first] == [d["chosen"] for d in reversed(again)]
        homes = {
            tuple(sorted((c["scores"]["home"]["value"], c["endpoint"]) for c in d["candidates"]))
            for d in first
        }
        assert len(homes) == len(pictures), "each picture has an order of its own"


async def test_p39_tenants_have_homes_of_their_own(monkeypatch):
    monkeypatch.setenv("GATE_KEYS", " ".join(f"key-{number}" for number in range(6)))
    async with Gate() as a, Gate() as b:
        a.open.set()
        b.open.set()
        endpoints = [{"url": engine.url, "engine": "vllm"} for engine in (a, b)]
        pools = [{"model": "m", "profile": "prefix-affinity", "endpoints": endpoints}]
        async with LiveGateway(pools=pools, keys_env="GATE_KEYS") as gateway:
            scores = []
            for number in range(6):
                for turn in range(2):
                    shown = {"authorization": f"Bearer key-{number}", "x-request-id": f"r{number}-{turn}"}
                    assert (await gateway.post(chat(HOT), headers=shown)).status == 200
                first, again = [
                    (await gateway.story(f"r{number}-{turn}"))["decisions"][0] for turn in range(2)
                ]
                lefts = [c["scores"]["left"]["value"] for c in first["candidates"]]
                assert len(set(lefts)) == 1, "nothing of another tenant's is remembered"
                assert first["chosen"] == again["chosen"]
                assert again["candidates"][0]["scores"]["left"]["value"] < lefts[0]
                scores.append(Counter(c["scores"]["home"]["value"] for c in first["candidates"]))
            assert len({tuple(sorted(each)) for each in scores}) == 6
