"""`forebay bench router`: options, exit status and files."""

import argparse

import pytest

from forebay.cli import bench, bench_router
from forebay.testing.bench import contestants, plot, run
from forebay.testing.bench.jobs import Result
from forebay.testing.bench.results import CaseFacts, Report, Sample


def parse(*arguments):
    parser = argparse.ArgumentParser()
    bench.add_parser(parser.add_subparsers(dest="command"))
    return parser.parse_args(["bench", "router", *arguments])


def report(wrong=0):
    return Report(
        date="2026-01-02T03:04:05+00:00",
        machine=dict.fromkeys(("processor", "cores", "memory", "system", "kernel", "placement"), "x"),
        versions={"nginx": "1.22"},
        missing={},
        plan="quick",
        rounds=1,
        streams_wanted=0,
        cases=[CaseFacts("text-1kb", "1 KB text", "cpu")],
        samples=[Sample("nginx", "text-1kb", 0, 10, 0.001, Result(done=10 - wrong, wrong=wrong))],
    )


@pytest.fixture
def asked(monkeypatch):
    """What the measurement was asked for; it answers with a ready report."""
    seen = {"report": report()}

    def measure(chosen, plan, tell):
        tell("working")
        seen.update(contestants=[one.name for one in chosen], plan=plan)
        if isinstance(seen["report"], Exception):
            raise seen["report"]
        return seen["report"]

    monkeypatch.setattr(run, "run", measure)
    return seen


def test_a_quick_run_writes_its_files(asked, tmp_path, capsys):
    assert bench_router.run(parse("--quick", "--out", str(tmp_path / "new"))) == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "router.json",
        "router.png",
        "router.txt",
    ]
    assert "CPU of the router" in capsys.readouterr().out
    assert asked["contestants"] == list(bench_router._NAMES)
    assert (asked["plan"].name, asked["plan"].rounds) == ("quick", 3)


def test_options_shape_the_plan(asked, tmp_path):
    arguments = (
        "--rounds",
        "2",
        "--cases",
        "text-1kb,latency",
        "--contestants",
        "direct,nginx",
        "--streams",
        "0",
    )
    assert bench_router.run(parse(*arguments, "--out", str(tmp_path))) == 0
    plan = asked["plan"]
    assert (plan.name, plan.rounds, plan.open_streams) == ("full", 2, 0)
    assert [case.name for case in plan.cases] == ["text-1kb", "latency"]
    assert asked["contestants"] == ["direct", "nginx"]


def test_a_wrong_answer_fails_the_run(asked, tmp_path):
    asked["report"] = report(wrong=1)
    assert bench_router.run(parse("--quick", "--out", str(tmp_path))) == 1


def test_a_router_that_does_not_start_fails_the_run(asked, tmp_path, capsys):
    asked["report"] = RuntimeError("nginx ended with status 1")
    assert bench_router.run(parse("--quick", "--out", str(tmp_path))) == 1
    assert "nginx ended with status 1" in capsys.readouterr().err


def test_without_matplotlib_there_is_no_picture(asked, tmp_path, monkeypatch, capsys):
    def draw(_report, _path):
        raise ModuleNotFoundError

    monkeypatch.setattr(plot, "draw", draw)
    assert bench_router.run(parse("--out", str(tmp_path))) == 0
    assert "matplotlib" in capsys.readouterr().err
    assert not (tmp_path / "router.png").exists()


def test_unknown_cases_are_refused(asked, capsys):
    assert bench_router.run(parse("--cases", "speed")) == 2
    assert "text-1kb" in capsys.readouterr().err
    assert "plan" not in asked


@pytest.mark.parametrize("arguments", [("--contestants", "haproxy"), ("--rounds", "0")])
def test_wrong_options_are_refused(arguments):
    with pytest.raises(SystemExit):
        parse(*arguments)


def test_other_systems_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(bench_router.sys, "platform", "darwin")
    assert bench_router.run(parse()) == 2
    assert "Linux" in capsys.readouterr().err


def test_missing_peers_are_installed_when_asked(asked, tmp_path, monkeypatch, capsys):
    class Peer:
        def __init__(self, name, version, error=None):
            self.name, self._version, self._error, self.installed = name, version, error, False

        def version(self):
            return self._version

        def install(self):
            if self._error:
                raise self._error
            self.installed = True

    peers = [Peer("direct", "1"), Peer("nginx", "", PermissionError("needs root")), Peer("vllm-router", "")]
    monkeypatch.setattr(contestants, "CONTESTANTS", peers)
    assert bench_router.run(parse("--install", "--out", str(tmp_path))) == 0
    assert [peer.installed for peer in peers] == [False, False, True]
    assert "nginx could not be installed: needs root" in capsys.readouterr().err
