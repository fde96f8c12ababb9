"""Pictures, sounds and clips through a gateway: what they are priced at, where they go, which are refused."""

import asyncio
import base64
import json
import resource

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Pause, ScriptedEngine, reply

from .words import answer, case, chat, eventually, image, parts, refusal

TEXT = {"type": "text", "text": "what is this?"}
WRAPPER_TOKENS = 2


def ok(_request):
    return [answer()]


def real(engine):
    """What was received, without the questions that llama.cpp's adapter asks to find out the APIs."""
    return [request for request in engine.received if request.body != b"{}"]


def llamacpp(script=ok, *, vision=True, audio=False):
    """An engine that looks like llama.cpp's server."""

    def answered(request):
        return [refusal("400 Bad Request")] if request.body == b"{}" else script(request)

    props = {"modalities": {"vision": vision, "audio": audio}, "default_generation_settings": {"n_ctx": 8192}}
    return ScriptedEngine(answered, pages={"/props": reply(json.dumps(props).encode())})


def pool(*engines, **more):
    """A pool of (engine, dialect) pairs."""
    endpoints = [{"url": engine.url, "engine": dialect} for engine, dialect in engines]
    return [{"model": "m", "family": "qwen2-vl", "endpoints": endpoints, **more}]


async def seen(gateway):
    """Wait until the eyes have seen every endpoint's abilities."""
    views = lambda: [row.view for row in gateway.station.rows()]  # noqa: E731
    await eventually(lambda: all(view is not None and view.abilities is not None for view in views()))


async def demand(gateway, body, name="d"):
    """The status, and what the request was priced at."""
    got = await gateway.post(body, headers={"x-request-id": name})
    return got.status, (await gateway.story(name))["demand"]


async def test_p07_orientation_is_left_to_the_engine_and_its_bytes_are_kept():
    jpeg = case("p07_exif6_420x140.jpg")
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, "vllm"))) as gateway:
        body = parts(TEXT, image(jpeg, "image/jpeg"))
        status, priced = await demand(gateway, body)
        assert (status, priced["image_tokens"], priced["exact"]) == (200, 75 + WRAPPER_TOKENS, True)
        assert json.loads(engine.received[0].body) == body


@pytest.mark.parametrize(
    ("name", "mime"),
    [("p08_tail_cut_280x140.jpg", "image/jpeg"), ("p08_idat_garbled_280x140.png", "image/png")],
)
async def test_p08_a_sound_header_is_enough_and_the_engines_refusal_is_passed_on(name, mime):
    async with (
        ScriptedEngine(lambda _: [refusal("400 Bad Request", "cannot decode")]) as engine,
        LiveGateway(pools=pool((engine, "vllm"), breaker={"failures": 1})) as gateway,
    ):
        for number in range(3):
            body = parts(TEXT, image(case(name), mime))
            got = await gateway.post(body, headers={"x-request-id": f"p08-{number}"})
            assert (got.status, got.error()["message"]) == (400, "cannot decode")
            assert (await gateway.story(f"p08-{number}"))["demand"]["image_tokens"] == 50 + WRAPPER_TOKENS
        assert len(engine.received) == 3
        assert gateway.station.ready


async def test_p08_a_cut_header_is_no_fault_of_ours():
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, "vllm"))) as gateway:
        got = await gateway.post(parts(TEXT, image(case("p08_header_cut.jpg"), "image/jpeg")))
        assert got.status == 400
        assert got.error()["code"] == "invalid_image"
        assert got.error()["param"].startswith("messages[0].content[1]")
        assert engine.received == []


async def test_p09_bombs_are_refused_by_their_headers():
    bomb = parts(TEXT, image(case("p09_bomb_30000x30000.png")))
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, "vllm"))) as gateway:
        await gateway.post(bomb)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        *got, text = await asyncio.gather(*(gateway.post(bomb) for _ in range(20)), gateway.post(chat()))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert {reply.status for reply in got} == {400}
        assert {reply.error()["code"] for reply in got} == {"image_too_large"}
        assert all("30000x30000" in reply.error()["message"] for reply in got)
        assert text.status == 200
        assert len(engine.received) == 1
        assert grown < 32 * 1024  # KiB; a decoded one would be 2.5 GiB
        await gateway.settled()
    assert b"iVBOR" not in gateway.log.getvalue()


# File, and whether llama.cpp's decoder takes it.
RASTERS = {
    "p10_cmyk_64x48.jpg": True,
    "p10_progressive_64x48.jpg": True,
    "p10_gray16_64x48.png": True,
    "p10_palette_alpha_64x48.png": True,
    "p10_animated_12f_64x48.gif": True,
    "p10_bmp_64x48.bmp": True,
    "p10_still_64x48.webp": False,
    "p10_lossless_64x48.webp": False,
    "p10_animated_5f_64x48.webp": False,
    "p10_tiff_be_64x48.tif": False,
    "p10_heic_64x48.heic": False,
    "p10_avif_64x48.avif": False,
}


class TestP10:
    async def test_p10_formats_go_where_they_are_decoded(self):
        """L is idle and V is busy: what L takes goes there, and what it does not goes to V all the same."""
        busy = [Pause(60)]
        async with (
            llamacpp() as idle,
            ScriptedEngine(lambda r: busy if b"stay" in r.body else ok(r)) as loaded,
            LiveGateway(pools=pool((idle, "llama.cpp"), (loaded, "vllm"))) as gateway,
        ):
            await seen(gateway)
            stays = [asyncio.create_task(self.stay(gateway)) for _ in range(2)]
            await eventually(lambda: loaded.busy == 2)
            for name, at_both in RASTERS.items():
                before = len(real(idle)), len(real(loaded))
                status, priced = await demand(gateway, parts(TEXT, image(case(name))), name)
                assert status == 200, name
                assert priced["image_tokens"] > 0, name
                assert priced["exact"], name
                assert priced["image_tokens"] <= 8, name  # one image of 64x48, however many frames
                after = len(real(idle)), len(real(loaded))
                assert (after[0] - before[0], after[1] - before[1]) == (at_both, not at_both), name
            for task in stays:
                task.cancel()
            await asyncio.gather(*stays, return_exceptions=True)
            await gateway.settled()

    async def stay(self, gateway):
        """Keep V busy, with a format that only it takes."""
        await gateway.post(parts({"type": "text", "text": "stay"}, image(case("p10_still_64x48.webp"))))

    async def test_p10_with_llamacpp_alone_the_format_is_named(self):
        async with llamacpp() as engine, LiveGateway(pools=pool((engine, "llama.cpp"))) as gateway:
            await seen(gateway)
            for name, taken in RASTERS.items():
                got = await gateway.post(parts(TEXT, image(case(name))))
                assert got.status == (200 if taken else 400), name
                if not taken:
                    assert got.error()["code"] == "unsupported_image_format"
                    assert f"image/{name.rpartition('.')[2].replace('tif', 'tiff')}" in got.error()["message"]

    async def test_p10_svg_is_refused(self):
        async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, "vllm"))) as gateway:
            got = await gateway.post(parts(TEXT, image(case("p10_not_an_image.svg"), "image/svg+xml")))
            assert (got.status, got.error()["code"]) == (400, "unsupported_image_format")
            assert engine.received == []


def video(data, mime="video/mp4"):
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return {"type": "video_url", "video_url": {"url": url}}


async def test_p11_clips_are_priced_by_their_frames_wherever_the_index_lies():
    names = ("p11_300f_10s_128x96.mp4", "p11_300f_10s_moov_at_end.mp4", "p11_6f_3s_128x96.mp4")
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool((engine, "vllm"))) as gateway:
        tokens = []
        for name in names:
            status, priced = await demand(gateway, parts(TEXT, video(case(name))), name)
            assert (status, priced["exact"]) == (200, True)
            tokens.append(priced["video_tokens"])
        # vLLM samples two frames a second of 128x96 (15 cells), two to a layer; the short clip has but 6 frames.
        assert tokens == [tokens[0], tokens[0], tokens[2]]
        assert tokens[0] > tokens[2] > 0
        nothing_told = b"\x1aE\xdf\xa3\x80\x18\x53\x80\x67\xff"  # a Matroska segment that has just begun
        status, priced = await demand(gateway, parts(TEXT, video(nothing_told, "video/webm")), "webm")
        assert (status, priced["exact"]) == (200, False)
        assert priced["video_tokens"] > 0


async def test_p12_many_pictures_are_priced_together_and_kept_in_order():
    body = case("p12_33_images.json")
    model = json.loads(body)["model"]
    pools = [{"model": model, "family": "qwen2-vl", "endpoints": [{"engine": "vllm"}]}]
    async with ScriptedEngine(ok, model=model) as engine:
        pools[0]["endpoints"][0]["url"] = engine.url
        async with LiveGateway(pools=pools) as gateway:
            status, priced = await demand(gateway, body)
            assert (status, priced["image_tokens"]) == (200, 33 * (50 + WRAPPER_TOKENS))
            assert engine.received[0].body == body
        async with LiveGateway(pools=pools, intake={"max_vision_tokens": 1000}) as gateway:
            got = await gateway.post(body)
            assert got.status == 400
            assert "1650 > 1000" in got.error()["message"]
        async with LiveGateway(pools=pools, intake={"media": {"max_items": 32}}) as gateway:
            got = await gateway.post(body)
            assert (got.status, got.error()["code"]) == (400, "too_many_media_items")
            assert "33" in got.error()["message"]
        assert len(engine.received) == 1


@pytest.mark.parametrize("name", ["p13_input_audio.json", "p13_input_audio_dataurl.json"])
async def test_p13_sound_is_priced_by_its_length_and_goes_to_those_who_hear(name):
    body = json.loads(case(name)) | {"model": "m"}
    async with llamacpp() as deaf, ScriptedEngine(ok) as hearing:
        pools = pool((deaf, "llama.cpp"), (hearing, "vllm"), profile="round-robin")
        pools[0]["family"] = "qwen2-audio"
        async with LiveGateway(pools=pools) as gateway:
            await seen(gateway)
            for number in range(4):
                status, priced = await demand(gateway, body, f"p13-{number}")
                assert status == 200
                assert 37 <= priced["audio_tokens"] <= 42  # 1.5 s at 25 a second, and two marks
                assert priced["text_tokens"] < 40
            assert (len(real(deaf)), len(hearing.received)) == (0, 4)


async def test_p13_sound_without_anyone_who_hears_is_refused():
    body = json.loads(case("p13_input_audio.json")) | {"model": "m"}
    async with llamacpp() as deaf, LiveGateway(pools=pool((deaf, "llama.cpp"))) as gateway:
        await seen(gateway)
        got = await gateway.post(body)
        assert got.status == 400
        assert got.error()["code"] == "rejected_not_capable"
        assert "audio" in got.error()["message"]
        assert real(deaf) == []


class TestP37PassMode:
    INSIDE = (
        "http://169.254.169.254/x",
        "http://[::1]/x",
        "http://10.0.0.5/x",
        "https://0x7f000001/x",
        "https://2130706433/x",
        "http://media.example.com/redir",
        "https://media.example.com@127.0.0.1/x",
        "https://localhost/x",
        "https://metadata/x",
        "file:///etc/hostname",
        "ftp://media.example.com/x",
    )
    KINDS = ("image_url", "video_url", "audio_url")

    @pytest.mark.parametrize("allow", [[], ["media.example.com"]], ids=["any-name", "allow-list"])
    async def test_p37_addresses_inside_are_refused_and_nothing_is_fetched(self, allow):
        visits = []
        async with (
            ScriptedEngine(lambda r: visits.append(r) or ok(r)) as target,
            ScriptedEngine(ok) as engine,
        ):
            connections = target.connections
            settings = {"media_urls": {"allow": allow}}
            async with LiveGateway(pools=pool((engine, "vllm")), **settings) as gateway:
                for url in (*self.INSIDE, f"{target.url}/x", f"{target.url.replace('http', 'https')}/x"):
                    for kind in self.KINDS:
                        got = await gateway.post(parts(TEXT, {"type": kind, kind: {"url": url}}))
                        assert (got.status, got.error()["code"]) == (400, "url_not_allowed"), (url, kind)
                        assert "media_urls.allow" in got.error()["message"]
                        assert url not in got.error()["message"]
            assert target.connections == connections
            assert engine.received == []

    async def test_p37_allowed_names_pass_unfetched_at_a_default_price(self):
        url = "https://media.example.com/cat.png"
        settings = {"media_urls": {"allow": ["media.example.com"]}}
        async with (
            ScriptedEngine(ok) as engine,
            LiveGateway(pools=pool((engine, "vllm")), **settings) as gateway,
        ):
            body = parts(TEXT, {"type": "image_url", "image_url": {"url": url}})
            status, priced = await demand(gateway, body)
            assert (status, priced["exact"]) == (200, False)
            assert priced["image_tokens"] > 0
            assert json.loads(engine.received[0].body) == body
            other = body["messages"][0]["content"][1]["image_url"]
            other["url"] = "https://elsewhere.example.com/cat.png"
            assert (await gateway.post(body)).status == 400


async def test_a_picture_goes_to_those_who_see():
    async with (
        llamacpp(vision=False) as blind,
        llamacpp() as seeing,
        LiveGateway(pools=pool((blind, "llama.cpp"), (seeing, "llama.cpp"))) as gateway,
    ):
        await seen(gateway)
        for _ in range(4):
            assert (await gateway.post(parts(TEXT, image(case("p10_bmp_64x48.bmp"))))).status == 200
        assert (len(real(blind)), len(real(seeing))) == (0, 4)
