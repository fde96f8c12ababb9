"""`forebay bench live`: a real gateway, real engine processes, and the same in the simulator."""

import msgspec
import pytest

from forebay.cli.main import main
from forebay.testing.bench_live.report import Report

SCENARIO = """
title: A handful of requests
fleet: [{device: a100-sxm, count: 2}]
workload: short-answers
arrivals: {rate_per_second: 20}
requests: 20
"""


def test_a_scenario_is_served_live_and_simulated(tmp_path, capsys):
    path = tmp_path / "tiny.yaml"
    path.write_text(SCENARIO)
    out = tmp_path / "out"
    words = ["--scenario", str(path), "--profile", "queue-kv", "--slowdown", "0.5", "--out", str(out)]
    assert main(["bench", "live", *words]) == 0
    report = msgspec.json.decode((out / "live.json").read_bytes(), type=Report)
    (twins,) = report.twins
    assert (twins.profile, twins.requests) == ("queue-kv", 20)
    assert (twins.refused_live, twins.refused_simulated) == (0, 0)
    assert len(twins.lines) == 6
    assert all(line.live > 0 and line.simulated > 0 for line in twins.lines)
    assert (out / "live.txt").read_text() in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--scenario", "nowhere"], "no such scenario"),
        (["--scenario", "j"], "several gateways"),
        (["--profile", "nothing"], "nothing"),
        (["--scenario", "b", "--seconds", "3"], "closed loop"),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(words, why, capsys):
    assert main(["bench", "live", *words]) == 2
    assert why in capsys.readouterr().err


def test_a_fleet_that_does_not_start_is_told(tmp_path, capsys, monkeypatch):
    def fails(*_given):
        raise RuntimeError("engine-1 ended with status 1")

    monkeypatch.setattr("forebay.testing.bench_live.twin.live", fails)
    assert main(["bench", "live", "--seconds", "1", "--out", str(tmp_path)]) == 1
    assert "engine-1 ended" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", ["0", "-1"])
def test_time_cannot_stand_still(given, capsys):
    with pytest.raises(SystemExit):
        main(["bench", "live", "--slowdown", given])
    assert "above 0" in capsys.readouterr().err
