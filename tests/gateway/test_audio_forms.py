"""Transcriptions and translations: forms, whose engines answer with JSON, text, subtitles or events."""

import gzip
import json

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine, reply

from .words import abilities_known, case, eventually, stream

PATHS = ("/v1/audio/transcriptions", "/v1/audio/translations")
FORM = {"content-type": "multipart/form-data; boundary=XB7"}
VTT = b"WEBVTT\n\n00:00.000 --> 00:01.500\nhello\n"
BODY = case("p24_multipart.bin")


def pools(*engines, **more):
    endpoints = [{"url": engine.url, "engine": "vllm"} for engine in engines]
    return [{"model": "asr-a", "family": "whisper", "endpoints": endpoints, **more}]


def form(**fields):
    parts = [
        f'--XB7\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    return (
        BODY[: BODY.index(b'--XB7\r\nContent-Disposition: form-data; name="model"')]
        + b"".join(parts)
        + b"--XB7--\r\n"
    )


@pytest.mark.parametrize("path", PATHS)
async def test_p24_a_form_is_routed_by_its_model_and_its_subtitles_come_back(path):
    async with (
        ScriptedEngine(
            lambda _: [reply(VTT, content_type="text/vtt; charset=utf-8")], model="asr-a"
        ) as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(BODY, path, headers={**FORM, "x-request-id": "t"})
        assert (got.status, got.body) == (200, VTT)
        assert got.headers["content-type"] == "text/vtt; charset=utf-8"
        (request,) = engine.received
        assert (request.path, request.body) == (path, BODY)
        assert request.headers["content-length"] == str(len(BODY))
        assert request.headers["content-type"] == FORM["content-type"]
        story = await gateway.story("t")
        assert story["outcome"]["ending"] == "finished"
        await gateway.settled()


async def test_p24_a_sound_is_priced_by_its_length():
    async with ScriptedEngine(lambda _: [reply(b'{"text":"x"}')], model="asr-a") as engine:
        endpoints = [{"url": engine.url, "engine": "vllm"}]
        pool = {"model": "asr-a", "family": "qwen2-audio", "endpoints": endpoints}
        sound = b'filename="a.wav"\r\n\r\n' + case("p13_tone_1500ms_8k_mono.wav")
        body = form(model="asr-a").replace(
            BODY[58 : BODY.index(b"\r\n--XB7\r\nContent-Disposition", 9)], sound
        )
        async with LiveGateway(pools=[pool]) as gateway:
            got = await gateway.post(body, PATHS[0], headers={**FORM, "x-request-id": "t"})
            assert got.status == 200
            demand = (await gateway.story("t"))["demand"]
            # 1.5 s: 150 frames of 10 ms, halved twice by convolution and pooling, and two marks.
            assert 37 <= demand["audio_tokens"] <= 40
            assert demand["text_tokens"] < 20


@pytest.mark.parametrize("path", PATHS)
async def test_p24_a_broken_form_is_refused_with_its_place(path):
    async with (
        ScriptedEngine(lambda _: [reply(b"{}")]) as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(case("p24_broken_multipart.bin"), path, headers=FORM)
        assert (got.status, got.error()["code"]) == (400, "invalid_form")
        assert got.error()["message"].startswith("byte 0: ")
        got = await gateway.post({"model": "asr-a"}, path)
        assert (got.status, got.error()["code"]) == (400, "invalid_content_type")
        assert not engine.received


async def test_p24_a_body_above_the_limit_is_413_and_names_the_setting():
    async with (
        ScriptedEngine(lambda _: [reply(b"{}")]) as engine,
        LiveGateway(pools=pools(engine), inbound={"max_body_bytes": 512}) as gateway,
    ):
        got = await gateway.post(BODY, PATHS[0], headers=FORM)
        assert (got.status, got.error()["code"]) == (413, "body_too_large")
        assert "max_body_bytes" in got.error()["message"]
        assert not engine.received


async def test_p25_an_alias_is_replaced_inside_the_form_and_nothing_else():
    async with (
        ScriptedEngine(lambda _: [reply(b'{"text":"hello","model":"asr-a"}')], model="asr-a") as engine,
        LiveGateway(pools=pools(engine, aliases=["whisper-1"])) as gateway,
    ):
        got = await gateway.post(form(model="whisper-1", language="en"), PATHS[0], headers=FORM)
        assert got.json() == {"text": "hello", "model": "whisper-1"}
        assert engine.received[0].body == form(model="asr-a", language="en")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (form(language="en"), "missing_model"),
        (form(model=""), "missing_model"),
        (form(model="nope"), "model_not_found"),
        (form(model="asr-a").replace(b"--XB7--", b'--XB7\r\nContent-Disposition: form-data; name="model"\r\n\r\nb\r\n--XB7--'), "duplicate_key"),
        (form(model="asr-a").replace(b'name="model"', b'name="model"; filename="x"'), "invalid_type"),
        (form(model="asr-a").replace(b"fmt ", b"fmtx"), "invalid_audio"),
    ],
)  # fmt: skip
async def test_what_cannot_be_routed_is_refused(body, code):
    async with (
        ScriptedEngine(lambda _: [reply(b"{}")]) as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        assert (await gateway.post(body, PATHS[0], headers=FORM)).error()["code"] == code
        assert not engine.received


async def test_json_replies_are_metered():
    body = b'{"text":"x","usage":{"type":"tokens","input_tokens":14,"output_tokens":5,"total_tokens":19}}'
    async with (
        ScriptedEngine(lambda _: [reply(body)], model="asr-a") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        await gateway.post(BODY, PATHS[0], headers={**FORM, "x-request-id": "u"})
        outcome = (await gateway.story("u"))["outcome"]
        assert (outcome["prompt_tokens"], outcome["completion_tokens"]) == (14, 5)


async def test_usage_in_seconds_is_no_count_of_tokens():
    body = b'{"text":"x","usage":{"type":"duration","seconds":2}}'
    async with (
        ScriptedEngine(lambda _: [reply(body)], model="asr-a") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(BODY, PATHS[0], headers={**FORM, "x-request-id": "u"})
        assert got.body == body
        assert (await gateway.story("u"))["outcome"]["prompt_tokens"] is None


OPENAI_EVENTS = (
    b'data: {"type":"transcript.text.delta","delta":"hel"}\n\n'
    b'data: {"type":"transcript.text.delta","delta":"lo"}\n\n'
    b'data: {"type":"transcript.text.done","text":"hello","usage":{"input_tokens":7,"output_tokens":2}}\n\n'
)
VLLM_EVENTS = (
    b'data: {"object":"transcription.chunk","model":"asr-a","choices":[{"delta":{"content":"hel"}}]}\n\n'
    b'data: {"object":"transcription.chunk","model":"asr-a","choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


@pytest.mark.parametrize(("events", "tokens"), [(OPENAI_EVENTS, 2), (VLLM_EVENTS, 2)])
async def test_streams_of_either_dialect_pass(events, tokens):
    async with (
        ScriptedEngine(lambda _: [stream(events)], model="asr-a") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(
            form(model="asr-a", stream="true"), PATHS[0], headers={**FORM, "x-request-id": "s"}
        )
        assert (got.status, got.body) == (200, events)
        outcome = (await gateway.story("s"))["outcome"]
        assert (outcome["ending"], outcome["completion_tokens"]) == ("finished", tokens)


async def test_a_transcript_that_breaks_off_is_not_taken_for_whole():
    async with (
        ScriptedEngine(lambda _: [stream(OPENAI_EVENTS[:60])], model="asr-a") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(form(model="asr-a", stream="true"), PATHS[0], headers=FORM)
        assert b"upstream_truncated" in got.body


async def test_a_gzipped_form_is_undone():
    async with (
        ScriptedEngine(lambda _: [reply(b'{"text":""}')], model="asr-a") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(gzip.compress(BODY), PATHS[0], headers={**FORM, "content-encoding": "gzip"})
        assert got.status == 200
        assert engine.received[0].body == BODY


async def test_p13_sound_goes_only_where_sound_is_taken():
    description = json.dumps({"paths": {PATHS[0]: {}, "/v1/chat/completions": {}}}).encode()
    async with (
        ScriptedEngine(lambda _: [reply(b'{"text":""}')], model="asr-a") as hears,
        ScriptedEngine(lambda _: [reply(b"{}")], model="asr-a") as deaf,
    ):
        hears.pages["/openapi.json"] = reply(description)
        deaf.pages["/openapi.json"] = reply(b'{"paths":{"/v1/chat/completions":{}}}')
        async with LiveGateway(pools=pools(deaf, hears)) as gateway:
            await eventually(lambda: abilities_known(gateway), 30)
            for _ in range(4):
                assert (await gateway.post(BODY, PATHS[0], headers=FORM)).status == 200
            assert (len(hears.received), len(deaf.received)) == (4, 0)
            got = await gateway.post(BODY, PATHS[1], headers=FORM)
            assert (got.status, got.error()["code"]) == (404, "api_not_served")
            assert "translations" in got.error()["message"]
