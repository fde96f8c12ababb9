"""forebay-vllm in a real vLLM: pictures that are encoded show on its own `/metrics`, and cached ones do not."""

import asyncio
import json
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from forebay.testing.asks import chat
from forebay.testing.engines import scenes, vllm_cpu

WHY_NOT = vllm_cpu.vllm_available()
if WHY_NOT is None and not list(
    vllm_cpu.environment_directory().glob("lib/python3.*/site-packages/forebay_vllm")
):
    WHY_NOT = "forebay-vllm is not installed beside it: run `make test-engines`"
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"VLLM'S PLUG-IN NOT TESTED: {WHY_NOT}"),
]


def ask(engine, body):
    request = urllib.request.Request(
        f"{engine.url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def encoder_metrics(engine):
    """Items, calls and seconds of pictures so far."""
    with urllib.request.urlopen(f"{engine.url}/metrics", timeout=30) as reply:
        families = text_string_to_metric_families(reply.read().decode())
        found = {
            sample.name.removeprefix("forebay_vllm_encoder_"): sample.value
            for family in families
            for sample in family.samples
            if sample.labels.get("modality") == "image" and "le" not in sample.labels
        }
    return found.get("items_total", 0), found.get("seconds_count", 0), found.get("seconds_sum", 0.0)


async def test_pictures_are_counted_and_timed_once(engine):
    fresh = [scenes.picture((), 112 + 28 * number, 140) for number in range(3)]
    before = encoder_metrics(engine)
    for picture in fresh:
        ask(engine, chat("x", "What color is the circle?", picture).body)
    items, calls, seconds = (now - then for now, then in zip(encoder_metrics(engine), before, strict=True))
    assert (items, calls) == (3, 3)
    assert 0 < seconds < 60
    # The same picture again is found in vLLM's encoder cache.
    ask(engine, chat("x", "What color is the circle?", fresh[0]).body)
    assert encoder_metrics(engine)[0] - before[0] == 3


async def test_pictures_that_come_together_are_all_counted(engine):
    before = encoder_metrics(engine)
    pictures = [scenes.picture((), 196, 112 + 28 * number) for number in range(6)]
    bodies = [chat("x", "What color is the circle?", picture).body for picture in pictures]
    await asyncio.gather(*(asyncio.to_thread(ask, engine, body) for body in bodies))
    items, calls, _seconds = (now - then for now, then in zip(encoder_metrics(engine), before, strict=True))
    assert items == 6
    assert 1 <= calls <= 6
