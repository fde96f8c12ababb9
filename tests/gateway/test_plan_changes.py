"""A new plan under load: no request goes to a wrong engine, none is dropped, and each endpoint keeps its own counts."""

import asyncio
import json

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Pause, ScriptedEngine

from .words import answer, chat, eventually


class Named(ScriptedEngine):
    """Answers with the model that it serves, and refuses every other."""

    def __init__(self, model):
        super().__init__(self.script)
        self.model = model

    def script(self, request):
        assert json.loads(request.body)["model"] == self.model
        return [Pause(0.005), answer(self.model, model=self.model)]


def plan_of(gateway, **pools):
    """Pools by model, of these engines, as the station's next plan."""
    listed = [
        {
            "model": model,
            "profile": "round-robin",
            "endpoints": [{"url": e.url, "engine": "vllm"} for e in engines],
        }
        for model, engines in pools.items()
    ]
    file = {"listen": "127.0.0.1:0", "admin": "127.0.0.1:0", "pools": listed}
    return assemble(Document.of(file, "test"), gateway.station.slots())


async def test_no_request_goes_astray_while_plans_change():
    async with Named("a") as a1, Named("a") as a2, Named("a") as a3, Named("b") as b1, Named("b") as b2:
        plans = [
            {"b": [b1], "a": [a2, a1]},  # pools and endpoints in another order
            {"a": [a2], "b": [b1, b2]},  # one removed, one added
            {"a": [a3, a1, a2], "b": [b2]},  # one comes back
            {"b": [b2, b1], "a": [a1, a3]},
        ]
        first = [
            {"model": model, "endpoints": [{"url": engine.url, "engine": "vllm"} for engine in engines]}
            for model, engines in {"a": [a1, a2], "b": [b1]}.items()
        ]
        async with LiveGateway(pools=first) as gateway:
            done, replies = asyncio.Event(), []

            async def ask(model):
                while not done.is_set():
                    got = await gateway.post(chat(model=model))
                    replies.append((model, got.status, got.json()["choices"][0]["message"]["content"]))

            asking = [asyncio.create_task(ask(model)) for model in "abab"]
            for pools in plans * 3:
                enough = len(replies) + 8
                await eventually(lambda enough=enough: len(replies) >= enough, 30)
                gateway.station.adopt(plan_of(gateway, **pools))
            done.set()
            await asyncio.gather(*asking)
            await gateway.settled(30)
            assert {(status, said == model) for model, status, said in replies} == {(200, True)}
            assert sum(len(engine.received) for engine in (a1, a2, a3, b1, b2)) == len(replies)
            rows = {row.endpoint.url: row.pool for row in gateway.station.rows()}
            assert rows == {a1.url: "a", a3.url: "a", b1.url: "b", b2.url: "b"}
            assert len({row.endpoint.slot for row in gateway.station.rows()}) == 4


async def test_counts_go_on_with_their_endpoint():
    async with ScriptedEngine(lambda _: [Pause(60)]) as busy, Named("m") as other, Named("m") as third:
        pools = [{"model": "m", "endpoints": [{"url": busy.url, "engine": "vllm"}]}]
        async with LiveGateway(pools=pools) as gateway:
            asking = asyncio.create_task(gateway.post(chat()))
            await eventually(lambda: busy.busy, 30)
            gateway.station.adopt(plan_of(gateway, m=[other, busy]))
            gateway.station.adopt(plan_of(gateway, m=[third, other]))  # it leaves, and is not empty
            gateway.station.adopt(plan_of(gateway, m=[third, other, busy]))
            counts = {row.endpoint.url: row.beliefs.in_flight for row in gateway.station.rows()}
            assert counts == {busy.url: 1, other.url: 0, third.url: 0}
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await gateway.settled(30)
