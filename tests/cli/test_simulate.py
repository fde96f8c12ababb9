"""The command: what it prints says what it rests on, and is the same for the same seed."""

import json
import os
import subprocess
import sys

import pytest

from forebay.cli import simulate
from forebay.cli.main import main

TINY = """
title: A moment of questions
fleet: [{device: a100-sxm, count: 2}]
workload: short-answers
arrivals: {rate_per_second: 10}
requests: 40
"""


@pytest.fixture
def tiny(tmp_path):
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    return str(file)


def test_a_table_tells_what_it_rests_on(tiny, capsys):
    assert main(["simulate", tiny, "--profile", "round-robin", "--profile", "queue-kv:kv=1,prefix=0"]) == 0
    shown = capsys.readouterr()
    assert "modelled, not measured; seed 1; 34 of 40 requests counted" in shown.out
    assert "a100-sxm: kernel-fitted, not validated" in shown.out
    assert "tiny: round-robin, seed 1" in shown.err
    rows = [line.split()[0] for line in shown.out.splitlines()[-2:]]
    assert rows == ["round-robin", "queue-kv:kv=1,prefix=0"]


def test_every_profile_runs_unless_some_are_named(tiny, capsys):
    from forebay.placement.catalogue import PROFILES

    assert main(["simulate", tiny, "--json", "--workers", "1"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["modelled"] is True
    assert [run["profile"] for run in report["runs"]] == list(PROFILES)


def test_the_same_seed_writes_the_same_bytes_in_any_process(tiny, tmp_path, capsys):
    words = ["simulate", tiny, "--profile", "power-of-two", "--profile", "queue-kv", "--seeds", "2"]
    assert main([*words, "--workers", "1", "--json"]) == 0
    here = capsys.readouterr().out
    out = tmp_path / "out.json"
    # Through the interpreter, as the workers start it anew by its main module.
    command = [sys.executable, "-m", "forebay.cli.main", *words, "--workers", "2", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert out.read_text() == here
    assert [run["seed"] for run in json.loads(here)["runs"]] == [1, 2, 1, 2]


def test_other_seeds_are_other_runs_and_are_averaged(tiny, capsys):
    assert main(["simulate", tiny, "--profile", "least-request", "--seeds", "3", "--workers", "1"]) == 0
    assert "seeds 1 to 3: mean ± standard deviation" in capsys.readouterr().out


def test_another_rate_is_as_long_and_has_more_requests(capsys):
    words = ["simulate", "smoke", "--profile", "round-robin", "--json", "--rate", "2"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["figures"]["requests"] == 50


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["smke"], "smke: no such scenario: did you mean `smoke`?"),
        (["none.yaml"], "cannot be read"),
        (["smoke", "--profile", "rund-robin"], "`rund-robin` is not known: did you mean `round-robin`?"),
        (["smoke", "--profile", "queue-kv:queeu=1"], "unknown field `queeu`: did you mean `queue`?"),
        (["smoke", "--profile", "queue-kv:kv"], "`kv` sets nothing: write setting=value"),
        (["b", "--rate", "2"], "give a rate above 0, for an open loop"),
        (["smoke", "--rate", "0"], "give a rate above 0, for an open loop"),
    ],
)
def test_what_is_wrong_is_told_with_its_cure_before_anything_runs(words, told, capsys):
    assert main(["simulate", *words]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert not shown.out


def test_numbers_of_runs_are_above_0(capsys):
    with pytest.raises(SystemExit):
        main(["simulate", "smoke", "--workers", "0"])
    assert "must be 1 or more" in capsys.readouterr().err


def test_a_terminal_gets_a_bar(tiny, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert main(["simulate", tiny, "--profile", "round-robin", "--workers", "1"]) == 0
    shown = capsys.readouterr()
    assert "round-robin" in shown.out
    assert "tiny: round-robin" not in shown.err


def test_the_bar_moves_within_a_run():
    from rich.progress import Progress

    bar = Progress(disable=True)
    progress = simulate._Bar(bar, 2000)
    progress.within(1000, 2000)
    assert bar.tasks[0].completed == 1000


def test_without_rich_there_are_lines(tiny, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["simulate", tiny, "--profile", "round-robin", "--workers", "1"]) == 0
    assert "tiny: round-robin, seed 1" in capsys.readouterr().err
