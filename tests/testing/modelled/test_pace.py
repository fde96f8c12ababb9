"""An engine in wall time does what it does in virtual time, however late this machine's timers are."""

import asyncio
import contextlib
import math
import random

import msgspec
import pytest

from forebay.domain.request import Api
from forebay.intake.tokens.registry import build
from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.job import Job
from forebay.simulator.engine.shape import QWEN3_VL_8B
from forebay.simulator.engine.steps import StepModel
from forebay.simulator.world import Overheads
from forebay.testing.asks import chat
from forebay.testing.engines import scenes
from forebay.testing.modelled.generation import Generation
from forebay.testing.modelled.reading import read

SPEED = 50.0
FAMILY = build("qwen3-vl")


def engine(**settings):
    return Engine(StepModel(load_device("a100-sxm"), QWEN3_VL_8B), EngineSettings(**settings))


def asked(number, rng):
    picture = scenes.picture(width=32 * rng.randrange(8, 30), height=320) if number % 3 == 0 else None
    body = chat("x", "word" * rng.randrange(20, 3_000), picture, model="m").body
    del body["max_tokens"]
    return read(
        Api.CHAT, msgspec.json.encode(body | {"modelled_output_tokens": rng.randrange(1, 90)}), FAMILY
    )


async def served(count):
    """Serve so many requests at moments that nobody controls; what they were, and what the engine says of each."""
    rng = random.Random(5)
    generation = Generation("m", engine(coalesce=False), SPEED, Overheads(), 8)

    async def one(number):
        request = asked(number, rng)
        await asyncio.sleep(rng.random() / 5)
        async with contextlib.aclosing(generation.pieces(request, f"{number}")) as pieces:
            assert sum([tokens async for tokens in pieces]) == request.output_tokens
        return f"{number}", request

    found = dict(await asyncio.gather(*(one(number) for number in range(count))))
    generation.close()
    zero = generation.pace.clock(0.0)
    return found, {truth.request_id: truth for truth in generation.truths.done}, zero


async def test_the_same_arrivals_in_virtual_time_give_the_same_moments():
    requests, truths, zero = await served(40)
    twin, first, ended = engine(), {}, {}
    arrivals = sorted(((truth.arrived - zero) * SPEED, name) for name, truth in truths.items())
    while arrivals or twin.due < math.inf:
        if arrivals and arrivals[0][0] < twin.due:
            at, name = arrivals.pop(0)
            request = requests[name]
            hashes = [item.content_hash for item in request.request.media]
            twin.submit(
                Job(name, request.prompt_tokens, request.output_tokens, request.patches, hashes,
                    request.request.prefix_blocks, request.request.prefix_tokens),
                at,
            )  # fmt: skip
            continue
        happened = twin.happen()
        first |= {job.key: happened.at for job in happened.first}
        ended |= {job.key: happened.at for job in happened.ended}
    for name, truth in truths.items():
        assert (truth.first - zero) * SPEED == pytest.approx(first[name], abs=1e-4)
        assert (truth.ended - zero) * SPEED == pytest.approx(ended[name], abs=1e-4)
