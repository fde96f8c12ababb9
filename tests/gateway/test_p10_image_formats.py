"""P10 through a gateway: what an endpoint's owner says of its decoder, and every raster format by its real size."""

import base64
import json

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import answer, case, image, parts

TEXT = {"type": "text", "text": "what is this?"}
GIF, PNG, HEIC = "p10_animated_12f_64x48.gif", "p10_gray16_64x48.png", "p10_heic_64x48.heic"


def ok(_request):
    return [answer()]


def pool(*engines):
    """A pool of (engine, image formats) pairs, in which the first endpoint is as good as the others."""
    endpoints = [{"url": engine.url, "engine": "vllm", **formats} for engine, formats in engines]
    return [{"model": "m", "family": "qwen2-vl", "profile": "round-robin", "endpoints": endpoints}]


def stated(*formats):
    return {"image_formats": list(formats)}


async def test_p10_a_picture_goes_only_where_its_format_is_stated():
    async with (
        ScriptedEngine(ok) as few,
        ScriptedEngine(ok) as all_,
        LiveGateway(pools=pool((few, stated("jpeg", "png")), (all_, {}))) as gateway,
    ):
        for _ in range(4):
            assert (await gateway.post(parts(TEXT, image(case(GIF))))).status == 200
        assert (len(few.received), len(all_.received)) == (0, 4)
        for _ in range(4):
            assert (await gateway.post(parts(TEXT, image(case(PNG))))).status == 200
        assert (len(few.received), len(all_.received)) == (2, 6)
        for _ in range(2):
            assert (await gateway.post(parts(TEXT))).status == 200
        assert (len(few.received), len(all_.received)) == (3, 7)


@pytest.mark.parametrize(("name", "mime"), [(GIF, "image/gif"), (HEIC, "image/heic")])
async def test_p10_where_none_takes_the_format_it_is_named_and_nothing_is_sent(name, mime):
    async with (
        ScriptedEngine(ok) as one,
        ScriptedEngine(ok) as other,
        LiveGateway(pools=pool((one, stated("jpeg", "png")), (other, stated()))) as gateway,
    ):
        got = await gateway.post(parts(TEXT, image(case(PNG)), image(case(name))))
        assert (got.status, got.error()["code"]) == (400, "unsupported_image_format")
        assert mime in got.error()["message"]
        assert "image/png" not in got.error()["message"]
        assert one.received == other.received == []
        assert (await gateway.post(parts(TEXT))).status == 200
        assert gateway.station.ready


async def test_p10_the_stated_format_wins_over_what_the_kind_of_engine_is_known_for():
    """A llama.cpp that was built with a further decoder."""
    props = json.dumps({"modalities": {"vision": True}}).encode()
    async with ScriptedEngine(ok, pages={"/props": props}) as engine:
        pools = pool((engine, {"engine": "llama.cpp", **stated("webp")}))
        async with LiveGateway(pools=pools) as gateway:
            assert (await gateway.post(parts(TEXT, image(case("p10_still_64x48.webp"))))).status == 200
            assert (await gateway.post(parts(TEXT, image(case(PNG))))).status == 400


async def test_p10_anthropics_way_in_obeys_it_too():
    data = base64.b64encode(case(GIF)).decode()
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [block]}]}
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, stated("png")))) as gateway:
        got = await gateway.post(body, "/v1/messages")
        assert got.status == 400
        assert "image/gif" in got.error()["message"]


@pytest.mark.parametrize("declared", ["image/svg+xml", "image/png", ""])
async def test_p10_svg_is_refused_whatever_it_is_declared_as(declared):
    """It is text that can name files and addresses: nothing of it is parsed."""
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, {}))) as gateway:
        bomb = b'<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><svg>&b;</svg>'
        for data in (case("p10_not_an_image.svg"), bomb):
            got = await gateway.post(parts(TEXT, image(data, declared)))
            assert (got.status, got.error()["code"]) == (400, "unsupported_image_format")
            assert "svg" in got.error()["message"]
        assert engine.received == []
