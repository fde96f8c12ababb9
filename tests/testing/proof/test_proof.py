"""A small proof, whole: runs, table, gates, page and pictures."""

import argparse
import dataclasses
import re

import msgspec
import numpy as np
import pytest

from forebay.cli import bench, bench_placement
from forebay.simulator.results import Figures, Result, Series, Spread
from forebay.simulator.run import profile_of
from forebay.simulator.scenario import shipped
from forebay.testing.proof import sensitivity
from forebay.testing.proof.cases import CASES, SMOKE, Gate
from forebay.testing.proof.contestants import FRESH, contestants, gateways
from forebay.testing.proof.figures import FIGURES, recovery_seconds
from forebay.testing.proof.page import page
from forebay.testing.proof.plots import overview
from forebay.testing.proof.report import encode, proof_of, text_report, verdict
from forebay.testing.proof.run import perform, scenario_of, tasks

RIVALS = [one for one in contestants() if one.name in {"round-robin", "multimodal", FRESH}]
SHORT = 0.1


@pytest.fixture(scope="module")
def work():
    return tasks(SMOKE, RIVALS, [1, 2], "multimodal", SHORT)


@pytest.fixture(scope="module")
def results(work):
    return perform(work, processes=1)


def test_every_case_has_its_scenario_and_its_rivals():
    for case in CASES + SMOKE:
        every = contestants() + (gateways("predictive") if case.several_gateways else ())
        names = {"", *(one.name for one in every)}
        assert all(gate.ours in names for gate in case.gates)
        assert case.scenario in shipped()
        for gate in case.gates:
            assert gate.figure in FIGURES
            assert gate.rival in names


def test_a_case_can_change_the_rate_and_a_contestant_the_signals():
    faster = next(case for case in CASES if case.name == "E 60/s")
    fresh = next(one for one in RIVALS if one.name == FRESH)
    scenario = scenario_of(faster, fresh)
    assert scenario.arrivals.rate_per_second == 60.0
    assert scenario.signals_seconds == 0.05


def test_the_same_seeds_give_the_same_bytes_in_one_process_or_in_two(work, results):
    told = []
    again = perform(work, processes=2, tell=lambda done, total, _what: told.append((done, total)))
    assert encode(proof_of("multimodal", SMOKE, work, again)) == encode(
        proof_of("multimodal", SMOKE, work, results)
    )
    assert told == [(number, len(work)) for number in range(1, len(work) + 1)]


def test_the_table_names_every_contestant_and_says_that_it_is_a_model(work, results):
    text = text_report(proof_of("multimodal", SMOKE, work, results))
    assert "MODELLED" in text
    assert "not validated" in text
    for one in RIVALS:
        assert re.search(rf"^{re.escape(one.name)} ", text, re.MULTILINE)
    assert re.search(r"^(met   |MISSED)  E2E mean not behind against", text, re.MULTILINE)


def figures(e2e):
    spread = Spread(e2e, e2e, e2e, e2e)
    found = Figures(1, 1, 0, 0, spread, spread, spread, 1.0, 1.0, 0.1, 0.1, 0.1, 1.6, 1.6, 0, 1.0)
    return Result("x", "x", 1, found, None, {})


@pytest.mark.parametrize(
    ("gate", "ours", "met"),
    [
        (Gate("E2E mean", "at-most", -0.1, "x"), (0.85, 0.84, 0.86), True),
        (Gate("E2E mean", "at-most", -0.1, "x"), (0.95, 0.94, 0.96), False),
        (Gate("E2E mean", "at-most", -0.1, "x"), (0.2, 1.4, 0.8), False),  # not sure
        (Gate("E2E mean", "not-behind", rival="x"), (1.0, 1.001, 1.002), True),
        (Gate("E2E mean", "not-behind", rival="x"), (1.03, 1.031, 1.032), False),
        (Gate("E2E mean", "below", 0.08, "x"), (1.05, 1.06, 1.07), True),
        (Gate("E2E mean", "below", 0.08, "x"), (1.1, 1.11, 1.12), False),
        (Gate("imbalance", "level", 1.5, "x"), (1.0, 1.0, 1.0), False),
        (Gate("imbalance", "level", 1.7, "x"), (1.0, 1.0, 1.0), True),
    ],
)
def test_gates(gate, ours, met):
    found = verdict(gate, [figures(one) for one in ours], [figures(1.0)] * 3)
    assert found.met is met
    assert gate.figure in found.words
    assert f"{found.mean:+.1%}" in found.numbers() or f"{found.mean:.2f}" in found.numbers()


def test_a_rival_with_a_surely_lower_mean_is_named(work, results):
    slow = [
        slowed(result, 2.0) if task.contestant == "multimodal" else result
        for task, result in zip(work, results, strict=True)
    ]
    proof = proof_of("multimodal", SMOKE, work, slow)
    assert "round-robin" in proof.cases[0].behind
    assert "multimodal has a higher E2E mean than" in text_report(proof)
    assert proof.missed


def slowed(result, factor):
    e2e = msgspec.structs.replace(result.figures.e2e, mean=result.figures.e2e.mean * factor)
    return dataclasses.replace(result, figures=msgspec.structs.replace(result.figures, e2e=e2e))


def parse(*arguments):
    parser = argparse.ArgumentParser()
    bench.add_parser(parser.add_subparsers(dest="command"))
    return parser.parse_args(["bench", "placement", *arguments])


def test_the_command_writes_json_page_and_pictures(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("forebay.testing.proof.contestants.contestants", lambda: (*RIVALS, QUEUE))
    monkeypatch.setattr("forebay.testing.proof.run.tasks", lambda *given: tasks(*given, SHORT))
    out = tmp_path / "new"
    assert (
        bench.run(
            parse("--smoke", "--seeds", "2", "--workers", "1", "--subject", "multimodal", "--out", str(out))
        )
        == 0
    )
    assert "MODELLED" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == [
        "placement.html",
        "placement.json",
        "smoke-1.png",
        "smoke-2.png",
    ]
    text = (out / "placement.html").read_text()
    assert "Modelled in virtual time" in text
    assert "src='http" not in text, "self-contained"
    assert "forebay bench placement --subject multimodal --seeds 2 --smoke" in text
    assert text.count("data:image/png;base64,") == 2


QUEUE = next(one for one in contestants() if one.name == "queue-kv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--case", "Z"), "no such case; there are A, B"),
        (("--subject", "magic"), "no profile 'magic'; there are"),
        (("--seeds", "0"), "must be 1 or more"),
    ],
)
def test_wrong_options_are_told(arguments, words, capsys):
    assert bench.run(parse(*arguments)) == 2
    assert words in capsys.readouterr().err


def test_a_case_with_several_rates_is_asked_for_by_its_letter():
    assert [one.name for one in bench_placement._cases(parse("--case", "E", "--case", "A"))] == [
        "A",
        "E 40/s",
        "E 50/s",
        "E 60/s",
    ]
    assert bench_placement._seeds(parse("--seed", "7")) == [7]
    assert "--seed 7" in bench_placement._command(parse("--seed", "7"))


def test_the_overview_is_a_picture():
    changes = {"E2E mean": (-0.1, -0.2, 0.0), "TTFT mean": (-0.3, -1.5, 0.9)}
    assert overview("ours", "theirs", [("A", changes), ("B", changes)]).startswith(b"\x89PNG")


def series(ttft):
    """A request every tenth of a second, whose time to first token is what `ttft` says of its arrival."""
    arrived = np.arange(0, 120, 0.1)
    times = np.array([ttft(at) for at in arrived])
    return Series(
        arrived, times, times, np.zeros(len(arrived), dtype=np.int64), np.zeros((1, 1)), np.zeros((1, 1))
    )


@pytest.mark.parametrize(
    ("ttft", "seconds"),
    [
        (lambda at: 0.2, 0),
        (lambda at: 2.0 if 60 <= at < 68 else 0.2, 10),
        (lambda at: 2.0 if at >= 60 else 0.2, 55),
        (lambda at: 2.0 if 60 <= at < 62 or 81 <= at < 82 else 0.2, 25),
    ],
)
def test_recovery_is_until_the_tail_is_back_for_good(ttft, seconds):
    assert recovery_seconds(series(ttft), 60.0) == pytest.approx(seconds)


def test_several_gateways_have_their_own_yardsticks():
    case = next(one for one in CASES if one.several_gateways)
    work = tasks([case], RIVALS, [1], "multimodal", 0.02)
    scenarios = {task.contestant: task.scenario for task in work}
    assert scenarios["alone"].gateways == 1
    assert scenarios["peers 200 ms"].peers_seconds == 0.2
    assert scenarios["multimodal"].gateways == 4
    proof = proof_of("multimodal", [case], work, perform(work, processes=1))
    assert len(proof.cases[0].verdicts) == 4
    assert not {"alone", "peers 200 ms"} & set(proof.cases[0].behind)


def test_a_case_with_an_incident_tells_how_long_it_was_felt():
    case = next(one for one in CASES if one.name == "I")
    work = tasks([case], RIVALS, [1], "multimodal", 0.4)
    proof = proof_of("multimodal", [case], work, perform(work, processes=1))
    assert all("recovery" in row.figures for row in proof.cases[0].rows)
    assert "recovery" in text_report(proof)
    assert "<th>recovery</th>" in page(proof, {}, "forebay bench placement")


def test_sensitivity_turns_one_knob_at_a_time():
    found = sensitivity.contestants("predictive")
    assert len({one.name for one in found}) == len(found)
    assert {len(one.changes) for one in found} == {0, 1}
    assert all(profile_of(one.choice) for one in found)
    options = parse("--sensitivity")
    assert bench_placement._cases(options) == (sensitivity.CASE,)
    assert bench_placement._command(options).endswith("--sensitivity")
