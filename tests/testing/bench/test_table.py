"""The report as text, and as a picture."""

import msgspec
import pytest

from forebay.testing.bench.plot import draw
from forebay.testing.bench.results import Report
from forebay.testing.bench.table import grid, microseconds, text_report

from .reports import report, sample


def test_columns_are_aligned():
    assert grid([["a", "bb"], ["ccc", "d"]]) == "a    bb\nccc   d"


@pytest.mark.parametrize(
    ("value", "text"),
    [(4.4, "4 us"), (999, "999 us"), (1000, "1.00 ms"), (9990, "9.99 ms"), (16400, "16.4 ms")],
)
def test_units(value, text):
    assert microseconds(value) == text


def test_the_whole_report():
    text = text_report(report())
    assert "nginx 1.22, vllm-router 0.1, forebay 0.1.0" in text
    assert "100 us [60 us .. 160 us]" in text
    assert "0.50 [0.40 .. 0.60]" in text
    assert "MISSED" in text
    assert "note: a thing to know" in text
    rows = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert rows["forebay"][-3:] == ["yes", "yes", "0"]
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_a_report_without_forebay_or_latency_or_memory():
    made = report()
    del made.versions["forebay"]
    made.missing = {"forebay": "pip install forebay"}
    made.cases = made.cases[:1]
    made.memory = []
    made.samples.append(sample("nginx", "text-1kb", 9, 50, wrong=3, first_wrong="status 502"))
    text = text_report(made)
    assert "target" not in text
    assert "latency of" not in text
    assert "note: forebay is not installed; pip install forebay" in text
    assert "nginx: status 502" in text


def test_a_contestant_without_figures_shows_a_dash():
    made = report()
    made.samples = [one for one in made.samples if one.contestant != "vllm-router"]
    assert " -" in text_report(made)


def test_json_goes_round():
    made = report()
    assert msgspec.json.decode(msgspec.json.encode(made), type=Report) == made


def test_the_picture_is_a_png(tmp_path):
    pytest.importorskip("matplotlib")
    made = report()
    made.samples = [one for one in made.samples if one.contestant != "vllm-router"]
    draw(made, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
