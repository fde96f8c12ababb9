"""The clients of a live run, against one modelled engine without a gateway, and against one that refuses."""

import pytest

from forebay.simulator.workloads.ask import Ask
from forebay.simulator.workloads.requests import visit
from forebay.testing.bench_live.client import Clients
from forebay.testing.modelled import ModelledEngine
from forebay.testing.scripted import Reset, ScriptedEngine, reply

CHAT = "/v1/chat/completions"
VISITS = [visit(number, number * 0.001, Ask(20, 5)) for number in range(6)]


@pytest.mark.parametrize("clients", [0, 2])
async def test_every_visit_comes_once_and_is_served(clients):
    ended = []
    async with ModelledEngine(speed=1000, family="qwen3-vl") as engine:
        run = Clients(engine.url + CHAT, VISITS, clients=clients, tell=ended.append)
        stories = await run.run()
    assert sorted(story.number for story in stories) == list(range(6))
    assert ended == list(range(1, 7))
    assert all(story.whole and story.arrived < story.first <= story.ended for story in stories)
    assert {truth.request_id for truth in engine.truths} == {f"v{number}" for number in range(6)}
    assert {(truth.prompt_tokens, truth.output_tokens) for truth in engine.truths} == {(20, 5)}


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ([reply(b"{}", "503 Service Unavailable")], {"503"}),
        ([Reset()], {"ClientOSError", "ServerDisconnectedError"}),
        ([reply(b'data: {"content":"x"}\n\n', content_type="text/event-stream")], {"200"}),
    ],
)
async def test_what_is_not_served_whole_counts_as_refused(script, why):
    async with ScriptedEngine(lambda _: script) as engine:
        run = Clients(engine.url + CHAT, VISITS[:1], clients=0, tell=lambda _ended: None)
        (story,) = await run.run()
    assert not story.whole
    assert story.refused in why
