"""What a worker does at its supervisor's word: the process's own code, run in this one at the other end of a channel."""

import asyncio
import contextlib
import os
import socket

import msgspec
import pytest

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.domain.load import Load
from forebay.gateway import messages
from forebay.gateway.messages import (
    Adopt,
    AskFleet,
    AskLatest,
    AskState,
    AskStory,
    Begin,
    DrainSlot,
    Fleet,
    Leave,
    Living,
    Moved,
    Refused,
    State,
    Story,
    Views,
    encode,
)
from forebay.gateway.worker_process import work
from forebay.runtime.channel import Channel
from forebay.runtime.ledger import Ledger, OwnRow
from forebay.testing.build import view
from forebay.testing.scripted import ScriptedEngine

from .words import Client, answer, chat

PATIENCE = 30.0


def ok(_request):
    return [answer()]


def planned(*engines, version=1, **more):
    settings = {
        "drain": {"lag_seconds": 0, "grace_seconds": 5},
        "access_log": {"path": "off"},
        "pools": [{"model": "m", "family": "generic", "endpoints": [{"url": each.url} for each in engines]}],
        **more,
    }
    return assemble(Document.of(msgspec.to_builtins(settings), "test"), version=version)


class Boss:
    """The supervisor's end of a channel, with what came over it."""

    def __init__(self):
        self.messages = []
        self.lost = asyncio.Event()
        self.news = asyncio.Event()
        self.channel = Channel(self._received, self.lost.set)

    def _received(self, data):
        self.messages.append(messages.decode_up(data))
        self.news.set()

    def tell(self, *all_of_them):
        for message in all_of_them:
            self.channel.send(encode(message))

    async def hear(self, kind):
        """The next message of a kind."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for message in self.messages:
                    if isinstance(message, kind):
                        self.messages.remove(message)
                        return message
                self.news.clear()
                await self.news.wait()


class Employed:
    """A worker at work, its boss, and where it listens."""

    def __init__(self, boss, url, ledger, task):
        self.boss, self.url, self.ledger, self.task = boss, url, ledger, task

    async def post(self, request_id="r"):
        async with Client.of(self.url) as client:
            client.ask(chat(), headers=f"x-request-id: {request_id}\r\n")
            head, _ = await client.whole(PATIENCE)
            return int(head.split()[1])


@contextlib.asynccontextmanager
async def employed(assembly, **begin):
    ours, theirs = socket.socketpair()
    ledger = Ledger.create(2, slots=8)
    listener = socket.create_server(("127.0.0.1", 0))
    host, port = listener.getsockname()
    boss = Boss()
    task = asyncio.create_task(work(theirs))
    ours.setblocking(False)
    await asyncio.get_running_loop().create_connection(lambda: boss.channel, sock=ours)
    shared, way_in = os.dup(ledger.descriptor), os.dup(listener.fileno())
    listener.close()
    boss.tell(Begin(0, 2, shared, 8, (way_in,), assembly.recipe, **begin))
    try:
        assert (await boss.hear(Living)).version == assembly.plan.version
        yield Employed(boss, f"http://{host}:{port}", ledger, task)
    finally:
        boss.channel.close()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(task, return_exceptions=True)
        os.close(shared)
        ledger.close()


async def test_it_serves_answers_and_leaves():
    async with ScriptedEngine(ok) as engine, employed(planned(engine)) as worker:
        boss = worker.boss
        boss.tell(Views((view(0, engine="vllm"),)))
        assert [await worker.post(name) for name in ("a", "b")] == [200, 200]
        boss.tell(AskState(1), AskFleet(2), AskStory(3, "a"), AskStory(4, "never"), AskLatest(5, 1))
        state = await boss.hear(State)
        assert (state.number, state.ready) == (1, True)
        assert state.tally.pools["m"].endings == {"finished": 2}
        assert state.losses["forebay_observer_errors"] == 0
        fleet = await boss.hear(Fleet)
        row = fleet.rows[0].row()
        assert (row.view.engine, row.beliefs.in_flight, row.endpoint.url) == ("vllm", 0, engine.url)
        assert fleet.served[row.endpoint.name]["finished"] == 2
        stories = [(await boss.hear(Story)).found for _ in range(3)]
        assert stories[0]["request_id"] == "a~w0"
        assert stories[1] is None
        assert [each["request_id"] for each in stories[2]["requests"]] == ["b~w0"]
        boss.tell(Leave())
        last = await boss.hear(State)
        assert (last.number, last.tally.pools["m"].endings) == (0, {"finished": 2})
        async with asyncio.timeout(PATIENCE):
            await boss.lost.wait()


async def test_ids_that_clients_chose_are_told_apart_from_those_of_other_workers():
    async with ScriptedEngine(ok) as engine, employed(planned(engine)) as worker:
        worker.boss.tell(Views((view(0, engine="vllm"),)))
        assert [await worker.post(name) for name in ("same", "not fit", "same~w1")] == [200] * 3
        same, *made = [request.headers["x-request-id"] for request in engine.received]
        assert same == "same~w0"
        assert all(each.startswith("req-") and "~" not in each for each in made)


async def test_what_peers_have_shows_in_its_rows():
    async with ScriptedEngine(ok) as engine, employed(planned(engine)) as worker:
        OwnRow(worker.ledger, 1).write(Load(0, in_flight=3))
        worker.boss.tell(AskFleet(1))
        assert (await worker.boss.hear(Fleet)).rows[0].beliefs["in_flight"] == 3
        assert await worker.post() == 200
        assert worker.ledger.load(0, 0).succeeded == 1


async def test_it_begins_with_what_it_would_have_been_told():
    drains = (DrainSlot(0, draining=True, limit_seconds=60),)
    async with ScriptedEngine(ok) as engine, employed(planned(engine), drains=drains) as worker:
        assert await worker.post() == 503
        worker.boss.tell(DrainSlot(0, draining=False, limit_seconds=60))
        worker.boss.tell(AskState(1))
        assert (await worker.boss.hear(State)).ready
        assert await worker.post() == 200


async def test_a_name_that_moves_is_followed():
    async with ScriptedEngine(ok) as engine:
        port = engine.url.rpartition(":")[2]
        assembly = assemble(
            Document.of(
                {
                    "access_log": {"path": "off"},
                    "drain": {"lag_seconds": 0},
                    "pools": [
                        {
                            "model": "m",
                            "family": "generic",
                            "endpoints": [{"url": f"http://engine.test:{port}"}],
                        }
                    ],
                },
                "test",
            )
        )
        async with employed(assembly, addresses={"engine.test": ("127.0.0.1",)}) as worker:
            assert await worker.post() == 200
            worker.boss.tell(Moved("engine.test", ("127.0.0.1",)))
            assert await worker.post() == 200


async def test_a_new_plan_is_adopted_or_refused(monkeypatch):
    async with ScriptedEngine(ok) as one, ScriptedEngine(ok) as two, employed(planned(one)) as worker:
        boss = worker.boss
        boss.tell(Adopt(planned(one, two, version=2).recipe))
        assert (await boss.hear(Living)).version == 2
        monkeypatch.setenv("KEY_OF_A_TEST", "secret")
        keyed = planned(one, version=3, keys_env="KEY_OF_A_TEST").recipe
        monkeypatch.delenv("KEY_OF_A_TEST")
        boss.tell(Adopt(keyed))
        refused = await boss.hear(Refused)
        assert refused.version == 3
        assert "KEY_OF_A_TEST" in refused.problem
        assert await worker.post() == 200


async def test_without_a_supervisor_it_ends_what_is_open_and_itself():
    async with ScriptedEngine(ok) as engine, employed(planned(engine)) as worker:
        worker.boss.channel.close()
        async with asyncio.timeout(PATIENCE):
            await worker.task
        with pytest.raises(OSError):  # noqa: PT011 - whichever way a port is closed
            await worker.post()


async def test_without_a_word_it_ends_too():
    ours, theirs = socket.socketpair()
    ours.close()
    async with asyncio.timeout(PATIENCE):
        await work(theirs)


async def ended_without_serving(recipe, listener):
    """What a worker tells that cannot begin."""
    ours, theirs = socket.socketpair()
    ledger, boss = Ledger.create(2, slots=8), Boss()
    ours.setblocking(False)
    await asyncio.get_running_loop().create_connection(lambda: boss.channel, sock=ours)
    task = asyncio.create_task(work(theirs))
    boss.tell(Begin(0, 2, os.dup(ledger.descriptor), 8, (listener,), recipe))
    async with asyncio.timeout(PATIENCE):
        assert await task == 1
        await boss.lost.wait()
    ledger.close()
    return boss.messages


async def test_one_that_cannot_listen_ends():
    async with ScriptedEngine(ok) as engine:
        no_socket = os.memfd_create("no socket")
        assert await ended_without_serving(planned(engine).recipe, no_socket) == []
        os.close(no_socket)


async def test_one_that_finds_a_fault_of_ours_ends_or_goes_on(monkeypatch):
    async with ScriptedEngine(ok) as engine:
        with monkeypatch.context() as broken:
            broken.setattr("forebay.gateway.worker_process.Worker", None)
            assert await ended_without_serving(planned(engine).recipe, 0) == []
        async with employed(planned(engine)) as worker:
            worker.boss.tell(DrainSlot(0, draining=True, limit_seconds=float("nan")))
            assert await worker.post() == 200


async def test_one_that_cannot_follow_its_first_plan_says_why_and_ends(monkeypatch):
    monkeypatch.setenv("KEY_OF_A_TEST", "secret")
    async with ScriptedEngine(ok) as engine:
        recipe = planned(engine, keys_env="KEY_OF_A_TEST").recipe
        monkeypatch.delenv("KEY_OF_A_TEST")
        (refused,) = await ended_without_serving(recipe, 0)
        assert "KEY_OF_A_TEST" in refused.problem
