"""`forebay replay`: the same decisions again, or the first that differs."""

import json

import msgspec
import pytest
import uvloop

from forebay.cli.main import main
from forebay.runtime.records import framed, records
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine, reply

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
REPLY = {
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
}


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """The log of a gateway that has served three requests, one plan after another."""
    folder = tmp_path_factory.mktemp("decisions")

    async def serve():
        async with (
            ScriptedEngine(lambda _: [reply(json.dumps(REPLY).encode())]) as engine,
            LiveGateway([engine.url], decision_log={"path": str(folder)}) as gateway,
        ):
            for _ in range(3):
                assert (await gateway.post(CHAT)).status == 200
            assert (await gateway.reload(eyes={"scrape_seconds": 5})).status == 200
            metrics = (await gateway.get("/metrics", admin=True)).body.decode()
            assert "forebay_decision_log_dropped_total 0.0" in metrics

    uvloop.run(serve())
    (file,) = folder.iterdir()
    return file


def test_the_same_commands_come_again(log, capsys):
    assert main(["replay", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "worker 0 of 1, written by Forebay" in shown
    assert "events brought the same commands" in shown


def test_the_first_difference_is_named(log, tmp_path, capsys):
    with log.open("rb") as stream:
        head, *entries = records(stream)
    values = [msgspec.msgpack.decode(entry) for entry in entries]
    number, arrived = next((i, entry) for i, entry in enumerate(values, 1) if entry[0] == "Arrived")
    arrived[2][0][1]["subject"]["prompt_tokens"] += 1
    changed = tmp_path / "changed.decisions"
    changed.write_bytes(b"".join(map(framed, [head, *map(msgspec.msgpack.encode, values)])))
    assert main(["replay", str(changed)]) == 1
    assert f"event {number}, Arrived at " in capsys.readouterr().out
    assert main(["replay", "--json", str(changed)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["same"] == number - 1
    assert told["difference"]["problem"].startswith("Note.subject.prompt_tokens: logged ")


@pytest.mark.parametrize("content", [b"no log", None])
def test_what_is_no_log_is_told(tmp_path, content, capsys):
    path = tmp_path / "x"
    if content is not None:
        path.write_bytes(content)
    assert main(["replay", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    config = tmp_path / "forebay.yaml"
    config.write_text(
        json.dumps(
            {
                "listen": "127.0.0.1:0",
                "admin": "127.0.0.1:0",
                "decision_log": {"path": str(tmp_path / "file" / "log")},
                "pools": [{"model": "m", "endpoints": [{"url": "http://127.0.0.1:9"}]}],
            }
        )
    )
    assert main(["serve", "--config", str(config)]) == 2
    assert "decision_log.path" in capsys.readouterr().err
