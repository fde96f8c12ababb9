"""Case P25 in full: aliases become the served name and come back, adapters keep theirs, other names reach no engine."""

import json

import pytest

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine, reply

from .words import CHAT, answer, chat, chunk, events, eventually, role, stream

REAL = "org/real-7b"
FORM = {"content-type": "multipart/form-data; boundary=b"}


def form(model):
    parts = ('file"; filename="a.wav', "?" * 64), ("model", model)
    fields = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in parts
    ]
    return "".join([*fields, "--b--\r\n"]).encode()


def asks(model):
    """Path, body, headers of one request of each kind."""
    return [
        (CHAT, chat(model=model), {}),
        (CHAT, chat(model=model, stream=True), {}),
        ("/v1/embeddings", {"model": model, "input": "x"}, {}),
        ("/v1/audio/transcriptions", form(model), FORM),
    ]


def seen(request):
    """The model that an engine was asked for."""
    if request.body.startswith(b"--b"):
        return request.body.rpartition(b'"model"\r\n\r\n')[2].partition(b"\r\n")[0].decode()
    return json.loads(request.body)["model"]


def script(request):
    """An engine that answers with the name it was asked for, as vLLM does."""
    name = seen(request)
    if b'"stream": true' in request.body or b'"stream":true' in request.body:
        pieces = [role(), chunk(name, content="a"), chunk(name, content="b"), chunk(name, finish="stop")]
        return [stream(b"".join([*pieces, b"data: [DONE]\n\n"]))]
    if request.path == CHAT:
        return [answer(model=name)]
    return [reply(json.dumps({"model": name, "text": "x", "data": []}).encode())]


def listing(*adapters):
    """vLLM's list of models, with adapters."""
    cards = [{"id": REAL, "object": "model", "owned_by": "vllm", "root": REAL, "parent": None}]
    cards += [
        {"id": name, "object": "model", "owned_by": "vllm", "root": "/x", "parent": REAL} for name in adapters
    ]
    return reply(json.dumps({"object": "list", "data": cards}).encode())


def pools(*engines, **more):
    endpoints = [{"url": engine.url, "engine": "vllm"} for engine in engines]
    return [{"model": REAL, "aliases": ["fast"], "endpoints": endpoints, "profile": "round-robin", **more}]


async def models(gateway):
    return [card["id"] for card in (await gateway.get("/v1/models")).json()["data"]]


async def test_p25_names_in_every_kind_of_request():
    async with ScriptedEngine(script, model=REAL) as bare, ScriptedEngine(script, model=REAL) as loaded:
        bare.pages["/v1/models"], loaded.pages["/v1/models"] = listing(), listing("ad-a", "ad-r")
        async with LiveGateway(pools=pools(bare, loaded, adapters=["ad-a"])) as gateway:
            await eventually(
                lambda: all(row.view and row.view.adapters is not None for row in gateway.station.rows()), 30
            )
            for name, engine_name in (("fast", REAL), ("ad-a", "ad-a"), ("ad-r", "ad-r"), (REAL, REAL)):
                for path, body, headers in asks(name):
                    before = len(bare.received), len(loaded.received)
                    got = await gateway.post(body, path, headers=headers)
                    assert got.status == 200, (name, path, got.body)
                    if b"data: " in got.body:
                        assert {
                            event["model"]
                            for event in events(got.body)
                            if event["choices"][0]["delta"].get("content")
                        } == {name}
                    else:
                        assert got.json()["model"] == name
                    sent = [*bare.received[before[0] :], *loaded.received[before[1] :]]
                    assert [seen(request) for request in sent] == [engine_name]
            assert {seen(request) for request in bare.received} == {REAL}
            assert [seen(request) for request in loaded.received].count("ad-a") == 4
            assert [seen(request) for request in loaded.received].count("ad-r") == 4
            assert await models(gateway) == [REAL, "fast", "ad-a", "ad-r"]
            count = len(bare.received) + len(loaded.received)
            for path, body, headers in asks("nope"):
                got = await gateway.post(body, path, headers=headers)
                assert (got.status, got.error()["code"]) == (404, "model_not_found")
            assert len(bare.received) + len(loaded.received) == count
            await gateway.settled()


async def test_p25_an_adapter_that_no_engine_lists_is_sent_to_any_when_it_is_declared():
    async with ScriptedEngine(script, model=REAL) as one, ScriptedEngine(script, model=REAL) as two:
        one.pages["/v1/models"] = two.pages["/v1/models"] = listing()
        async with LiveGateway(pools=pools(one, two, adapters=["ad-a"])) as gateway:
            await eventually(
                lambda: all(row.view and row.view.adapters == () for row in gateway.station.rows()), 30
            )
            for _ in range(4):
                assert (await gateway.post(chat(model="ad-a"))).json()["model"] == "ad-a"
            assert len(one.received) == len(two.received) == 2


async def test_p25_an_adapter_is_named_with_its_parent():
    async with (
        ScriptedEngine(script, model=REAL) as engine,
        LiveGateway(pools=pools(engine, adapters=["ad-a"])) as gateway,
    ):
        cards = {card["id"]: card for card in (await gateway.get("/v1/models")).json()["data"]}
        assert (cards["ad-a"]["root"], cards["ad-a"]["parent"]) == ("ad-a", REAL)
        assert cards["fast"]["root"] == REAL
        assert "parent" not in cards["fast"]


@pytest.mark.parametrize(
    "changed",
    [
        {"aliases": [REAL]},
        {"aliases": ["fast", "fast"]},
        {"aliases": ["other"]},
        {"adapters": ["fast"]},
        {"adapters": ["other"]},
        {"adapters": [REAL]},
        {"adapters": ["a", "a"]},
    ],
)
def test_p25_a_name_for_two_things_is_refused_at_load(changed):
    first = {"model": REAL, "aliases": ["fast"], "endpoints": [{"url": "http://a:1"}], **changed}
    second = {"model": "other", "endpoints": [{"url": "http://b:1"}]}
    with pytest.raises(ConfigError, match="already names"):
        assemble(Document.of({"pools": [first, second]}, "test"))


def test_p25_an_alias_of_an_alias_is_a_name_for_two_things():
    pools = [
        {"model": "a", "aliases": ["b"], "endpoints": [{"url": "http://a:1"}]},
        {"model": "b", "aliases": ["a"], "endpoints": [{"url": "http://b:1"}]},
    ]
    with pytest.raises(ConfigError, match="already names"):
        assemble(Document.of({"pools": pools}, "test"))
