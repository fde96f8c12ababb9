"""`forebay demo`: true answers from real engines; and what it says when something is not as it should be."""

import contextlib
import json
import shlex
import signal
import socket
import subprocess
import sys

import pytest

from forebay.cli import demo
from forebay.cli.demo_visit import Visit, Visitor
from forebay.cli.demo_voice import Voice
from forebay.cli.main import main
from forebay.testing import asks
from forebay.testing.engines import launch

WHY_NOT = launch.engines_available()
real = [
    pytest.mark.engines,
    pytest.mark.skipif(WHY_NOT is not None, reason=f"THE DEMO NOT TESTED: {WHY_NOT}"),
]
SINGLE = len(list(asks.one_by_one()))


def ports():
    return ["--listen", str(launch.free_port()), "--admin", str(launch.free_port())]


class TestWithRealEngines:
    pytestmark = real

    def test_each_json_line_is_true(self):
        command = [sys.executable, "-m", "forebay.cli.main", "demo", "--json", *ports()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("Note: tinyvlm is a small model of ours")
        *singles, burst = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(singles) == SINGLE
        assert {line["true"] for line in singles} == {True, None}
        assert all(line["predicted_media_tokens"] == line["reported_media_tokens"] for line in singles)
        assert sum(line["predicted_media_tokens"] > 0 for line in singles) == SINGLE - 2
        assert burst["true"]
        split = burst["by_engine"]
        assert sorted(split) == ["tinyvlm-a", "tinyvlm-b"]
        assert sum(each["pictures"] for each in split.values()) == asks.PICTURES_IN_BURST
        assert sum(sum(each.values()) for each in split.values()) == asks.BURST

    def test_it_stays_up_on_other_ports_and_its_commands_work(self, capsys, monkeypatch):
        seen = {}

        def pause():
            seen["shown"] = shown = capsys.readouterr().out
            (line,) = [line for line in shown.splitlines() if " explain " in line]
            seen["status"] = main(shlex.split(line)[-4:])
            raise KeyboardInterrupt

        monkeypatch.setattr(signal, "pause", pause)
        before = signal.getsignal(signal.SIGTERM)
        with taken_port() as listen, taken_port() as admin:
            assert main(["demo", "--keep", "--listen", str(listen), "--admin", str(admin)]) == 0
        assert signal.getsignal(signal.SIGTERM) is before
        assert seen["status"] == 0
        assert "request req-" in capsys.readouterr().out
        assert f"Port {listen} is taken: " in seen["shown"]
        assert f"Port {admin} is taken: " in seen["shown"]
        assert "image tokens: predicted 18, engine 18" in seen["shown"]
        assert "audio tokens: predicted 752, engine 752" in seen["shown"]
        assert "times: median" in seen["shown"]
        assert "every answer whose truth is known is true" in seen["shown"]

    def test_a_gateway_that_does_not_start_is_shown_with_its_log(self, monkeypatch, capsys):
        monkeypatch.setattr(demo, "_free", lambda port, _say: port)
        with taken_port() as listen, pytest.raises(SystemExit, match="choose another address"):
            main(["demo", "--listen", str(listen), "--admin", str(launch.free_port())])
        assert "tinyvlm-a" in capsys.readouterr().out


@contextlib.contextmanager
def taken_port():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_missing_engines_are_named(monkeypatch, capsys):
    monkeypatch.setattr(launch, "engines_available", lambda: "xllamacpp not installed")
    assert main(["demo"]) == 1
    assert "the demo's engines are not here: xllamacpp not installed" in capsys.readouterr().err


# --- faults, without engines

ASK = asks.chat("a picture", "What color is it?", truth="red")


def visit(**changes):
    told = {
        "request_id": "r-1",
        "answer": asks.Answer("red", 32),
        "engine": "tinyvlm-a",
        "why": "it was free",
        "media_tokens": (18, 18),
    }
    return Visit(ASK, 12.0, **(told | changes))


FAILED = Visit(ASK, 12.0, error="HTTP 503: overloaded")
WRONG = visit(answer=asks.Answer("blue", 32))
INEXACT = visit(media_tokens=(18, 20))


def test_only_true_and_exact_answers_are_right():
    assert visit().right
    assert not FAILED.right
    assert not WRONG.right
    assert not INEXACT.right


def test_faults_are_shown_to_people(capsys):
    voice = Voice(as_json=False)
    voice.visited(FAILED)
    voice.visited(WRONG)
    voice.burst([visit(), INEXACT], ["tinyvlm-a", "tinyvlm-b"])
    shown = capsys.readouterr().out
    assert "FAILED: HTTP 503: overloaded" in shown
    assert "WRONG" in shown
    assert "image tokens" not in shown
    assert "predicted 18, engine 20" in shown
    assert "tinyvlm-b    0 short texts,  0 large pictures" in shown
    assert "2 requests failed" in demo._closing(2)


def test_faults_are_json_lines_too(capsys):
    voice = Voice(as_json=True)
    voice.visited(FAILED)
    voice.burst([FAILED, visit()], ["tinyvlm-a"])
    single, burst = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert single == {"request": "a picture", "error": "HTTP 503: overloaded", "true": False}
    assert (burst["true"], burst["wrong"]) == (False, 1)


def test_a_gateway_that_is_gone_is_an_error_and_not_ready():
    visitor = Visitor(launch.free_port(), launch.free_port(), [])
    assert not visitor.ready()
    (gone,) = visitor.visit_all([ASK])
    assert gone.error
    assert gone.true is False


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [(503, b"busy", "HTTP 503: busy"), (200, b"{}", "not an answer: KeyError"), (200, b"<", "not an answer")],
)
def test_what_is_no_answer_is_an_error(monkeypatch, status, body, error):
    monkeypatch.setattr("forebay.cli.demo_visit._call", lambda *_: (status, "r-1", body))
    assert error in Visitor(1, 2, []).visit(ASK).error


def test_the_program_is_named_as_it_was_called(monkeypatch):
    monkeypatch.setattr(sys, "argv", [".venv/bin/forebay", "demo"])
    assert demo._program() == ".venv/bin/forebay"
    monkeypatch.setattr(sys, "argv", ["main.py"])
    assert demo._program().endswith("-m forebay.cli.main")
