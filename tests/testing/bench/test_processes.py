"""Processes are pinned, stripped of secrets, waited for and ended."""

import os
import resource
import sys

import pytest

from forebay.testing.bench import processes
from forebay.testing.bench.processes import Cores, Process, choose_cores

SERVER = "import http.server as h, sys; h.HTTPServer(('127.0.0.1', int(sys.argv[1])), h.SimpleHTTPRequestHandler).serve_forever()"


@pytest.mark.parametrize(
    ("available", "chosen"), [([5], Cores(5, 5, 5)), ([1, 0], Cores(0, 1, 1)), ([0, 2, 4, 6], Cores(0, 2, 4))]
)
def test_choice_of_cores(available, chosen):
    assert choose_cores(available) == chosen


def test_no_secret_reaches_a_child(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    core = min(os.sched_getaffinity(0))
    program = "import os; print(sorted(os.environ), os.sched_getaffinity(0)); print(os.getcwd())"
    process = Process("child", [sys.executable, "-c", program], tmp_path, core)
    process._popen.wait()
    text = process.log.read_text()
    assert "HF_TOKEN" not in text
    assert "OPENAI_API_KEY" not in text
    assert "PATH" in text
    assert f"{{{core}}}" in text
    assert str(tmp_path) in text


def test_pinning_is_undone():
    before = os.sched_getaffinity(0)
    with processes.pinned(min(before)):
        assert os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before


def test_a_server_is_waited_for_and_ended(tmp_path):
    (port,) = processes.free_ports(1)
    process = Process(
        "web", [sys.executable, "-c", SERVER, str(port)], tmp_path, min(os.sched_getaffinity(0))
    )
    try:
        processes.wait_until_ready(process, port, "/web.log")
        assert process.ended() == ""
    finally:
        process.stop()
    assert "ended with status" in process.ended()


def test_a_program_that_dies_says_why(tmp_path):
    process = Process("bad", [sys.executable, "-c", "raise SystemExit('no such file')"], tmp_path, 0)
    with pytest.raises(RuntimeError, match=r"bad ended with status 1: no such file"):
        processes.wait_until_ready(process, processes.free_ports(1)[0])


def test_a_program_that_never_answers_and_will_not_go(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_STOP_SECONDS", 0.05)
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    process = Process("deaf", [sys.executable, "-c", program], tmp_path, 0)
    with pytest.raises(TimeoutError, match="deaf did not answer"):
        processes.wait_until_ready(process, processes.free_ports(1)[0], limit_seconds=0.3)
    process.stop()
    assert process.ended()


def test_file_limit_is_raised_as_far_as_allowed(monkeypatch):
    calls = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (1000, 5000))

    def refuse_more(_which, limits):
        if limits[1] > 5000:
            raise ValueError("not allowed")
        calls.append(limits)

    monkeypatch.setattr(resource, "setrlimit", refuse_more)
    assert processes.raise_file_limit(20000) == 5000
    assert processes.raise_file_limit(500) == 1000
    monkeypatch.setattr(resource, "setrlimit", lambda _which, limits: calls.append(limits))
    assert processes.raise_file_limit(20000) == 20000
    assert calls == [(5000, 5000), (20000, 20000)]
