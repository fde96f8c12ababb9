"""Figures of both sides beside each other, and what is said of them."""

import msgspec

from forebay.simulator.visits import Story
from forebay.testing.bench_live.compare import compare
from forebay.testing.bench_live.report import Report, report_of, text_report
from forebay.testing.bench_live.twin import Seen


def stories(e2e, ttft, count=100, **changes):
    return [
        Story(number, float(number), first=number + ttft, ended=number + e2e, **changes)
        for number in range(count)
    ]


def test_differences_and_bounds():
    twins = compare("p", Seen(stories(2.1, 0.26)), [Seen(stories(2.0, 0.2))])
    told = {(line.measure, line.figure): (round(line.difference, 2), line.met) for line in twins.lines}
    assert told == {
        ("E2E", "mean"): (0.05, True),
        ("E2E", "p50"): (0.05, None),
        ("E2E", "p99"): (0.05, True),
        ("TTFT", "mean"): (0.3, False),
        ("TTFT", "p50"): (0.3, None),
        ("TTFT", "p99"): (0.3, False),
    }


def test_what_chance_alone_does_is_told():
    simulated = [Seen(stories(2.0 * by, 0.2 * by)) for by in (0.7, 1.3)]
    ttft = compare("p", Seen(stories(2.1, 0.3)), simulated).lines[3]
    assert (ttft.measure, ttft.figure, round(ttft.simulated, 3), round(ttft.chance, 3)) == (
        "TTFT",
        "mean",
        0.2,
        0.3,
    )
    assert (ttft.met, ttft.by_chance) == (False, True)


def test_only_visits_that_both_sides_served_are_compared():
    live = stories(2.0, 0.2)
    live[50].refused = "503"
    twins = compare("p", Seen(live), [Seen(stories(2.0, 0.2))])
    assert (twins.requests, twins.counted, twins.refused_live, twins.refused_simulated) == (100, 85, 1, 0)


def test_the_text_tells_what_was_missed_and_that_all_is_modelled(tiny):
    twins = compare("p", Seen(stories(2.1, 0.26), 0.003, (0.004,)), [Seen(stories(2.0, 0.2))])
    report = report_of(tiny(), (twins,), others_share=0.5)
    text = text_report(report)
    assert "All times are modelled" in text
    assert "a100-sxm: kernel-fitted, not validated" in text
    assert [
        line.split()[-1] for line in text.splitlines() if line.startswith("p ") and "P50" not in line
    ] == [
        "met",
        "met",
        "MISSED",
        "MISSED",
    ]
    assert "NOISY: other programs took 50%" in text
    assert "NOISY" not in text_report(msgspec.structs.replace(report, others_share=0.0))
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_the_text_says_which_profile_is_ahead_on_each_side(tiny):
    one = compare("one", Seen(stories(2.1, 0.26)), [Seen(stories(2.0, 0.2))])
    two = compare("two", Seen(stories(2.0, 0.27)), [Seen(stories(2.1, 0.3))])
    text = text_report(report_of(tiny(), (one, two), others_share=0.0))
    assert "Least mean E2E first: live two, one; simulated one, two." in text
    assert "Least mean TTFT first: live one, two; simulated the same." in text
