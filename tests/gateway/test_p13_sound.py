"""P13 through a gateway: sound in every container is priced by its length, and never as text."""

import base64
from pathlib import Path

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import answer, parts

SAMPLES = Path(__file__).parents[1] / "intake/media/samples"
TEXT = {"type": "text", "text": "what is said?"}
# Two seconds each. Qwen2-Audio makes 25 tokens of a second, and two marks stand around them.
EXACT = (
    "tone_2s.aac", "tone_2s.flac", "tone_2s.m4a", "tone_2s_cbr16k_bare.mp3", "tone_2s_vbr_lame.mp3",
    "tone_2s_opus.ogg", "tone_2s_vorbis.ogg", "tone_2s_opus.webm",
)  # fmt: skip
LIVE = "tone_2s_opus_live.webm"


def ok(_request):
    return [answer()]


def pool(*engines):
    endpoints = [{"url": engine.url, "engine": "vllm"} for engine in engines]
    return [{"model": "m", "family": "qwen2-audio", "endpoints": endpoints}]


def sound(name):
    data = base64.b64encode((SAMPLES / name).read_bytes()).decode()
    return {"type": "input_audio", "input_audio": {"data": data, "format": name.rpartition(".")[2]}}


@pytest.mark.parametrize("name", [*EXACT, LIVE])
async def test_p13_a_sound_costs_its_length_whatever_its_container(name):
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        got = await gateway.post(parts(TEXT, sound(name)), headers={"x-request-id": "p13"})
        demand = (await gateway.story("p13"))["demand"]
        assert got.status == 200
        assert 48 <= demand["audio_tokens"] <= 56
        assert demand["text_tokens"] < 40
        assert demand["exact"] == (name != LIVE)
        assert len(engine.received) == 1


async def test_p13_a_sound_that_is_cut_in_its_header_is_refused():
    part = {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(b"fLaC\0\0").decode(), "format": "flac"},
    }
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        got = await gateway.post(parts(TEXT, part))
        assert (got.status, got.error()["code"]) == (400, "invalid_audio")
        assert engine.received == []
