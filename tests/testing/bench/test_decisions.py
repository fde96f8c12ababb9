"""Decision times: measured for every profile and size, shown, and held to their promise."""

from forebay.placement.catalogue import PROFILES
from forebay.testing.bench import decisions
from forebay.testing.bench.results import DecisionTime, Report
from forebay.testing.bench.table import text_report
from forebay.testing.bench.targets import targets


def report(times):
    facts = dict.fromkeys(("processor", "cores", "memory", "system", "kernel", "placement"), "x")
    return Report("2026-01-01", facts, {"forebay": "0"}, {}, "quick", 1, 0, [], decisions=times)


def test_every_profile_is_measured_over_every_size(monkeypatch):
    monkeypatch.setattr(decisions, "BATCH_SECONDS", 0.0)
    monkeypatch.setattr(decisions, "SIZES", (2, 40))
    found = decisions.measure_decisions()
    assert [(one.profile, one.endpoints) for one in found] == [
        (name, size) for name in PROFILES for size in (2, 40)
    ]
    assert all(one.microseconds > 0 for one in found)


def test_they_are_shown_and_judged_by_the_slowest():
    times = [
        DecisionTime("a", 2, 10.0),
        DecisionTime("a", 1024, 400.0),
        DecisionTime("b", 2, 5.0),
        DecisionTime("b", 1024, 1500.0),
    ]
    text = text_report(report(times))
    assert "one decision, over endpoints" in text
    (target,) = targets(report(times))
    assert (target.figure, target.state) == (1.5, "MISSED")
    assert targets(report(times[:1])) == []
