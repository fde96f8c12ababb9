"""vLLM's CPU build, real weights: it answers truly, counts by Python's rounding, and shows its queue."""

import base64
import concurrent.futures
import http.client
import json
import re

import pytest

from forebay.testing.engines import launch, scenes, vllm_cpu

WHY_NOT = vllm_cpu.vllm_available()
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"VLLM NOT TESTED: {WHY_NOT}"),
]


def exchange(engine, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", engine.spec.port, timeout=60)
    try:
        headers = {"content-type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def chat(engine, question, png=None, **options):
    parts = [{"type": "text", "text": question}]
    if png is not None:
        url = "data:image/png;base64," + base64.b64encode(png).decode()
        parts.insert(0, {"type": "image_url", "image_url": {"url": url}})
    body = {"model": launch.TINYVLM, "temperature": 0, "max_tokens": 16, **options}
    status, reply = exchange(
        engine, "POST", "/v1/chat/completions", {**body, "messages": [{"role": "user", "content": parts}]}
    )
    assert status == 200, reply
    return json.loads(reply)


@pytest.mark.parametrize("scene", scenes.demo_scenes(), ids=lambda scene: scene.name)
def test_vllm_answers_every_demo_question_truly(engine, scene):
    assert chat(engine, scene.question, scene.png)["choices"][0]["message"]["content"] == scene.answer


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((112, 112), 18),
        ((140, 112), 22),
        ((224, 224), 66),
        ((300, 200), 56),
        ((640, 480), 56),
        ((182, 270), 62),  # 6.5 tiles of 28: Python rounds halves to even where llama.cpp rounds them up
        ((83, 182), 20),
    ],
)
def test_vllm_reports_image_tokens_by_the_documented_rule(engine, size, tokens):
    question = "What color is the circle?"
    plain = chat(engine, question)["usage"]["prompt_tokens"]
    with_image = chat(engine, question, scenes.picture((), *size))["usage"]["prompt_tokens"]
    assert plain == 14
    assert with_image - plain == tokens


def test_what_does_not_fit_the_running_batch_is_seen_waiting(engine):
    most = {"running": 0.0, "waiting": 0.0, "kv_cache": 0.0}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        picture = scenes.demo_scenes()[0].png
        jobs = [
            pool.submit(chat, engine, "What do you see?", picture, max_tokens=200, ignore_eos=True)
            for _ in range(12)
        ]
        while not all(job.done() for job in jobs):
            for name, value in gauges(engine).items():
                most[name] = max(most[name], value)
    assert {job.result()["usage"]["completion_tokens"] for job in jobs} == {200}
    assert most["running"] == 4
    assert 1 <= most["waiting"] <= 8
    assert 0 < most["kv_cache"] <= 1


def gauges(engine):
    _, text = exchange(engine, "GET", "/metrics")
    names = {
        "running": "vllm:num_requests_running",
        "waiting": "vllm:num_requests_waiting",
        "kv_cache": "vllm:kv_cache_usage_perc",
    }
    return {
        short: float(re.search(rf"^{name}{{[^}}]*}} (\S+)$", text, re.MULTILINE).group(1))
        for short, name in names.items()
    }
