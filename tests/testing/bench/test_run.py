"""A whole run with tiny counts: direct, and a router that copies bytes."""

import sys
from pathlib import Path

import pytest

from forebay.testing.bench import memory, run
from forebay.testing.bench.cases import Case, Plan, full_plan, quick_plan
from forebay.testing.bench.contestants.base import Plain
from forebay.testing.bench.contestants.direct import Direct
from forebay.testing.bench.figures import Figures
from forebay.testing.bench.jobs import Load
from forebay.testing.bench.processes import Cores
from forebay.testing.bench.table import text_report

SCRIPT = Path(__file__).with_name("pass_through.py")


class PassThrough(Plain):
    name = "pass-through"

    def version(self):
        return "1"

    def cure(self):
        return ""

    def install(self):
        pass

    def command(self, site):
        return [sys.executable, str(SCRIPT), str(site.port), str(site.engine_ports[0])]


class Deaf(PassThrough):
    """It answers health checks alone: its engine is not an engine."""

    name = "deaf"

    def command(self, site):
        program = (
            "import http.server as h, sys\n"
            "class Health(h.BaseHTTPRequestHandler):\n"
            "    def do_GET(self): self.send_response(200); self.end_headers()\n"
            "h.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Health).serve_forever()\n"
        )
        return [sys.executable, "-c", program, str(site.port)]


class Slow(PassThrough):
    """It is given half of the load."""

    name = "slow"
    share = 0.5


class Absent(PassThrough):
    name = "absent"

    def version(self):
        return ""

    def cure(self):
        return "bring it"


TINY = Plan(
    "tiny",
    2,
    (
        Case("text-1kb", "1 KB text", Load("text", 20, 2)),
        Case("image-300kb", "an image", Load("image", 4, 2, size=16)),
        Case("stream-chunk", "stream chunk", Load("stream", 2, 2, chunks=5, interval_us=1000)),
        Case("latency", "latency", Load("text", 5, 1, rate=500.0), measure="latency"),
    ),
    open_streams=20,
)


def test_a_tiny_run_measures_everything():
    lines = []
    report = run.run([Direct(), PassThrough(), Absent()], TINY, lines.append)
    assert report.missing == {"absent": "bring it"}
    assert len(report.samples) == 2 * 2 * 4
    assert sum(sample.load.wrong for sample in report.samples) == 0
    figures = Figures(report)
    for case in report.cases:
        assert figures.cpu_us("pass-through", case.name).least > 0
        assert figures.cpu_us("direct", case.name).largest == 0
    assert [(one.contestant, one.streams) for one in report.memory] == [("pass-through", 20)]
    assert "pass-through" in text_report(report)
    assert lines[:2] == ["decisions", "warming up"]
    assert report.decisions


def test_a_router_that_cannot_answer_sits_out_and_is_named():
    report = run.run([Direct(), Deaf()], Plan("tiny", 1, TINY.cases[:1], 0), lambda _line: None)
    assert [sample.contestant for sample in report.samples] == ["direct"]
    assert report.failed[0].startswith("deaf gave no right answer to 1 KB text: status 501")
    assert "FAILED: deaf" in text_report(report)


def test_a_slow_router_is_given_its_share_and_the_report_says_so():
    report = run.run([Slow()], Plan("tiny", 1, TINY.cases[:1], 20), lambda _line: None)
    assert [(sample.units, sample.load.done) for sample in report.samples] == [(10, 10)]
    assert [one.streams for one in report.memory] == [10]
    assert any("slow was given 50% of each load" in note for note in report.notes)


def test_rotation_lets_each_go_first():
    assert [run.rotated("abc", number) for number in range(3)] == [list("abc"), list("bca"), list("cab")]


def test_one_core_and_noise_are_said_loudly():
    report = run._empty_report([], TINY, Cores(0, 0, 0))
    assert "ONE CORE" in report.notes[0]
    assert run._noise(0.01) == []
    assert "NOISY" in run._noise(0.5)[0]


@pytest.mark.parametrize("plan", [full_plan(), quick_plan()])
def test_plans_hold_every_case_once(plan):
    names = [case.name for case in plan.cases]
    assert len(names) == len(set(names)) == 6
    assert plan.rounds >= 3


@pytest.mark.parametrize(
    ("wanted", "limit", "streams", "words"),
    [
        (0, 0, 0, "left out"),
        (10_000, 1024, 0, "MEMORY NOT MEASURED"),
        (10_000, 20_000, 9_900, "9,900 of 10,000"),
        (500, 20_000, 500, "straight line"),
        (10_000, 65_536, 10_000, ""),
    ],
)
def test_streams_are_cut_to_the_limit_on_open_files(monkeypatch, wanted, limit, streams, words):
    monkeypatch.setattr(memory, "raise_file_limit", lambda _wanted: limit)
    notes = []
    assert memory.affordable_streams(wanted, notes) == streams
    assert words in " ".join(notes)
