"""The logs of two workers, replayed by processes that hash otherwise; and a demand that is another by one token."""

import asyncio
import os
import re
import subprocess
import sys

import msgspec
import pytest
import uvloop

from forebay.runtime.records import framed, records
from forebay.testing.asks import chat
from forebay.testing.engines import scenes
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine

REQUESTS = 40
PATIENCE_SECONDS = 60.0


def ask(number):
    picture = scenes.picture(width=28 * (4 + number % 5), height=280) if number % 2 else None
    asked = chat("x", "word " * (10 + 7 * number), picture, model="m", stream=number % 3 == 0)
    return asked.body | {"modelled_output_tokens": 5 + number}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """The logs of a gateway of two workers, each of which has served some of the requests."""
    folder = tmp_path_factory.mktemp("decisions")

    async def serve():
        async with ModelledEngine(speed=20) as one, ModelledEngine(speed=20) as two:
            endpoints = [{"url": each.url, "engine": "vllm", "max_in_flight": 8} for each in (one, two)]
            pool = {"model": "m", "family": "qwen2.5-vl", "profile": "multimodal", "endpoints": endpoints}
            more = {"workers": 2, "decision_log": {"path": str(folder)}, "seed": 11}
            async with LiveGateway(pools=[pool], **more) as gateway:
                got = await asyncio.gather(*(gateway.post(ask(number)) for number in range(REQUESTS)))
                assert {reply.status for reply in got} == {200}
                await gateway.settled(PATIENCE_SECONDS)
                await gateway.session.close()
                await gateway.supervisor.drain()  # in good order, so that all is written

    uvloop.run(serve())
    return sorted(folder.iterdir())


def replayed(log, hash_seed):
    """What `forebay replay` says in a process of its own."""
    words = [sys.executable, "-m", "forebay.cli.main", "replay", "--json", str(log)]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run(words, env=environment, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    return done.returncode, msgspec.json.decode(done.stdout)


def entries(log):
    with log.open("rb") as stream:
        head, *rest = records(stream)
    return head, [msgspec.msgpack.decode(each) for each in rest]


def test_each_workers_log_is_replayed_whatever_the_process_hashes_by(logs):
    assert len(logs) == 2
    arrived = 0
    for log in logs:
        kinds = [entry[0] for entry in entries(log)[1]]
        arrived += kinds.count("Arrived")
        assert "PeersChanged" in kinds
        told = [replayed(log, seed) for seed in ("1", "4711")]
        assert told == [(0, {"same": len(kinds), "difference": None})] * 2
    assert arrived == REQUESTS


def test_a_demand_that_is_another_by_one_token_is_reported(logs, tmp_path):
    head, found = next(
        (head, found) for head, found in map(entries, logs) if any(is_pictured(entry) for entry in found)
    )
    number = next(number for number, entry in enumerate(found, 1) if is_pictured(entry))
    found[number - 1][1]["request"]["media"][0]["tokens"] += 1
    changed = tmp_path / "changed.decisions"
    changed.write_bytes(b"".join(map(framed, [head, *map(msgspec.msgpack.encode, found)])))
    status, told = replayed(changed, "0")
    assert (status, told["same"], told["difference"]["number"]) == (1, number - 1, number)
    assert told["difference"]["kind"] == "Arrived"
    assert re.search(r": logged .+, replayed ", told["difference"]["problem"])


def is_pictured(entry):
    return entry[0] == "Arrived" and bool(entry[1]["request"]["media"])
