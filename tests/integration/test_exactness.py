"""What the gateway predicts for media equals what real engines report, to the token."""

import asyncio
import base64
import io
import random
import wave

import pytest

from forebay.testing.engines import launch, scenes

pytestmark = pytest.mark.engines

QUESTION = {"type": "text", "text": "What do you see?"}
# Around rounding, over any aspect limit, under and over the bounds of pixels, and what cameras and screens make.
EXTREME = [
    (1, 1),
    (3, 1000),
    (1000, 3),
    (2000, 8),
    (28, 3000),
    (27, 29),
    (83, 182),
    (182, 270),
    (98, 98),
    (70, 126),
    (224, 224),
    (1920, 1080),
]
AT_ONCE = 4


def random_sizes(count=48, seed=20261201):
    rng = random.Random(seed)
    # Even in the logarithm: small sizes, where rounding matters most, are as likely as large ones.
    return [(round(8 * 2 ** rng.uniform(0, 7)), round(8 * 2 ** rng.uniform(0, 7))) for _ in range(count)]


def recording(samples, rate=16_000, channels=1):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(bytes(2 * channels * samples))
    return file.getvalue()


def hearing(wav):
    sound = {"data": base64.b64encode(wav).decode(), "format": "wav"}
    return {"type": "input_audio", "input_audio": sound}


@pytest.fixture
def compare(gateway, engines, ask):
    """Predicted and reported tokens of one medium: the engine's own count of the prompt, less that of the words alone."""

    async def compared(model, part, kind):
        engine = next(engine for engine in engines if engine.spec.model == model)
        body = {"model": model, "max_tokens": 1, "temperature": 0}
        words = {"messages": [{"role": "user", "content": [QUESTION]}]}
        count_url = f"{engine.url}/v1/chat/completions/input_tokens"
        alone = (await asyncio.to_thread(ask, count_url, body | words))["input_tokens"]
        reply = await gateway.post(body | {"messages": [{"role": "user", "content": [part, QUESTION]}]})
        assert reply.status == 200, reply.body
        story = await gateway.get(f"/forebay/decisions/{reply.headers['x-request-id']}", admin=True)
        demand = story.json()["demand"]
        assert demand["exact"]
        return demand[f"{kind}_tokens"], reply.json()["usage"]["prompt_tokens"] - alone

    return compared


async def all_compared(compare, model, parts, kind):
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(part):
        async with turns:
            return await compare(model, part, kind)

    return await asyncio.gather(*(one(part) for part in parts))


async def test_image_tokens_are_exact(compare, data_url):
    sizes = EXTREME + random_sizes()
    pictures = [scenes.picture(width=width, height=height) for width, height in sizes]
    parts = [{"type": "image_url", "image_url": {"url": data_url(picture)}} for picture in pictures]
    pairs = await all_compared(compare, launch.TINYVLM, parts, "image")
    assert {size: pair for size, pair in zip(sizes, pairs, strict=True) if pair[0] != pair[1]} == {}
    assert len({reported for _, reported in pairs}) > 20


async def test_audio_tokens_are_exact(compare):
    sounds = {
        "a tenth of a second": recording(1_600),
        "1 s": recording(16_000),
        "the last sample of a window": recording(479_839),
        "the first of the next": recording(479_840),
        "44.1 kHz": recording(2 * 44_100, rate=44_100),
        "8 kHz, stereo": recording(31 * 8_000, rate=8_000, channels=2),
    }
    pairs = await all_compared(compare, launch.TINY_AUDIO, [hearing(wav) for wav in sounds.values()], "audio")
    assert {name: pair for name, pair in zip(sounds, pairs, strict=True) if pair[0] != pair[1]} == {}
    assert len({reported for _, reported in pairs}) == 2
