"""Promises are judged against the run."""

from forebay.testing.bench.results import CaseFacts
from forebay.testing.bench.targets import targets

from .reports import report


def test_each_promise_has_a_figure_and_a_state():
    found = {target.what: (round(target.figure, 3), target.state) for target in targets(report())}
    assert found == {
        "CPU of 1 KB text, times vllm-router": (0.5, "met"),
        "CPU of 1 KB text, times nginx": (2.0, "met"),
        "added latency at 50 requests a second, p50": (0.25, "met"),
        "added latency at 50 requests a second, p99": (2.2, "MISSED"),
        "memory with 10,000 open streams": (450.0, "met"),
    }


def test_what_was_not_measured_says_so():
    made = report()
    made.memory = []
    made.cases.append(CaseFacts("stream-chunk", "stream chunk", "cpu"))
    states = {target.what: (target.state, target.limit) for target in targets(made)}
    assert states["memory with 10,000 open streams"] == ("not measured", 600)
    assert states["CPU of stream chunk, times vllm-router"] == ("not measured", 1.0)
    made.streams_wanted = 0
    assert "memory with 10,000 open streams" not in {target.what for target in targets(made)}
