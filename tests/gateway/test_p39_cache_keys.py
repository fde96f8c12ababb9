"""Case P39 as far as engines' own caches go: one tenant's keys are of no use to another, and pictures are told apart."""

import json

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .words import answer, case, chat


def bearer(key):
    return {"authorization": f"Bearer {key}"}


async def test_p39_a_salt_is_the_tenants_own_in_every_gateway(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("one two")
    body = chat(cache_salt="s")
    async with ScriptedEngine(lambda _: [answer()]) as engine:
        for _ in range(2):
            async with LiveGateway([engine.url], keys_file=str(keys)) as gateway:
                for key in ("one", "two"):
                    assert (await gateway.post(body, headers=bearer(key))).status == 200
        salts = [json.loads(request.body)["cache_salt"] for request in engine.received]
    assert salts[:2] == salts[2:]
    assert len({"s", *salts}) == 3


async def test_p39_keys_pass_where_clients_are_trusted():
    body = chat(cache_salt="s")
    async with (
        ScriptedEngine(lambda _: [answer()]) as engine,
        LiveGateway([engine.url], intake={"trust_cache_keys": True}) as gateway,
    ):
        await gateway.post(body)
        assert json.loads(engine.received[0].body) == body


async def test_p39_the_same_text_with_another_picture_is_another_prompt():
    files = [case(f"p39_same_text_image_{name}.json") for name in "aba"]
    model = json.loads(files[0])["model"]
    async with ScriptedEngine(lambda _: [answer(model=model)], model=model) as engine:
        pools = [{"model": model, "endpoints": [{"url": engine.url, "engine": "vllm"}]}]
        async with LiveGateway(pools=pools) as gateway:
            for body in files:
                assert (await gateway.post(body)).status == 200
            assert [request.body for request in engine.received] == files
