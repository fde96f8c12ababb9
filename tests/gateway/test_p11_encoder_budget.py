"""P11 through a gateway: clips are priced by their sampling, and go only where the encoder takes them."""

import base64

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import answer, case, parts

LONG, LONG_INDEX_LAST, SHORT = (
    "p11_300f_10s_128x96.mp4",
    "p11_300f_10s_moov_at_end.mp4",
    "p11_6f_3s_128x96.mp4",
)
BY_RATE = {"fps": 2, "max_frames": 32}
BY_NUMBER = {"num_frames": 512}
# Qwen2-VL rounds 128x96 to 140x84, which is 5 x 3 cells of 28; two frames share them.
CELLS = 15
UNKNOWN_CONTAINER = b"\x00\x01\x02\x03 no container that anybody knows"


def ok(_request):
    return [answer()]


def clip(data, mime="video/mp4"):
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return parts({"type": "text", "text": "what happens?"}, {"type": "video_url", "video_url": {"url": url}})


def pool(sampling, *engines, **family):
    endpoints = [{"url": e.url, "engine": "vllm", "encoder_budget_tokens": budget} for e, budget in engines]
    rules = {"name": "qwen2-vl", "sampling": sampling, **family}
    return [{"model": "m", "family": rules, "profile": "round-robin", "endpoints": endpoints}]


async def asked(gateway, body, name="d"):
    got = await gateway.post(body, headers={"x-request-id": name})
    return got, await gateway.story(name)


@pytest.mark.parametrize(
    ("sampling", "frames"), [(BY_RATE, (20, 20, 6)), (BY_NUMBER, (300, 300, 6))], ids=["by-rate", "by-number"]
)
async def test_p11_a_clip_costs_the_frames_that_are_sampled_wherever_its_index_lies(sampling, frames):
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway(pools=pool(sampling, (engine, 0))) as gateway,
    ):
        for name, taken in zip((LONG, LONG_INDEX_LAST, SHORT), frames, strict=True):
            got, story = await asked(gateway, clip(case(name)), name)
            assert got.status == 200
            assert story["demand"]["video_tokens"] == taken // 2 * CELLS + 2
            assert story["demand"]["exact"]


async def test_p11_a_clip_goes_where_the_encoder_takes_it():
    async with (
        ScriptedEngine(ok) as small,
        ScriptedEngine(ok) as large,
        LiveGateway(pools=pool(BY_NUMBER, (small, 2_249), (large, 2_250))) as gateway,
    ):
        for number in range(4):
            got, story = await asked(gateway, clip(case(LONG)), f"long-{number}")
            assert got.status == 200
            assert story["decisions"][0]["filters"][0]["name"] == "encoder-budget"
        assert len(small.received) == 0
        assert len(large.received) == 4
        for number in range(4):
            assert (await asked(gateway, clip(case(SHORT)), f"short-{number}"))[0].status == 200
        assert len(small.received) == 2


async def test_p11_none_left_is_told_with_the_numbers_and_no_engine_hears_of_it():
    async with (
        ScriptedEngine(ok) as one,
        ScriptedEngine(ok) as other,
        LiveGateway(pools=pool(BY_NUMBER, (one, 1_000), (other, 2_249))) as gateway,
    ):
        got, story = await asked(gateway, clip(case(LONG)))
        assert (got.status, got.error()["code"]) == (400, "encoder_budget_exceeded")
        assert "2250 tokens" in got.error()["message"]
        assert "2249" in got.error()["message"]
        assert story["outcome"]["reason"] == "encoder-budget-exceeded"
        assert one.received == other.received == []


async def test_p11_a_clip_by_url_is_left_to_the_engine_which_alone_sees_it():
    url = {"type": "video_url", "video_url": {"url": "https://media.example.com/clip.mp4"}}
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway(pools=pool(BY_RATE, (engine, 1))) as gateway,
    ):
        got, story = await asked(gateway, parts({"type": "text", "text": "what happens?"}, url))
        assert got.status == 200
        assert story["demand"]["video_tokens"] > 1
        assert not story["demand"]["exact"]


async def test_p11_an_unknown_container_is_priced_by_the_configured_fallback_and_marked():
    assumed = {"width": 128, "height": 96, "seconds": 5, "frames_per_second": 30}
    pools = pool(BY_RATE, assumed_clip=assumed)
    async with ScriptedEngine(ok) as engine:
        pools[0]["endpoints"] = [{"url": engine.url, "engine": "vllm", "encoder_budget_tokens": 75}]
        async with LiveGateway(pools=pools) as gateway:
            got, story = await asked(gateway, clip(UNKNOWN_CONTAINER, "video/x-unknown"))
            assert got.status == 200
            assert (story["demand"]["video_tokens"], story["demand"]["exact"]) == (5 * CELLS + 2, False)
        pools[0]["endpoints"][0]["encoder_budget_tokens"] = 74
        async with LiveGateway(pools=pools) as gateway:
            got, _ = await asked(gateway, clip(UNKNOWN_CONTAINER, "video/x-unknown"))
            assert got.status == 400
            assert "75 tokens" in got.error()["message"]
            assert "74" in got.error()["message"]
        assert len(engine.received) == 1
