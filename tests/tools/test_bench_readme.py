"""The README's figures come from a run's JSON, and from nowhere else."""

import msgspec
import pytest

import bench_readme
from forebay.testing.bench.jobs import Result
from forebay.testing.bench.results import CaseFacts, Report, Sample
from pages.bench import BEGIN, END, with_figures


@pytest.fixture
def report():
    costs = {"forebay": 100.0, "nginx": 40.0, "vllm-router": 125.0}
    return Report(
        date="2026-12-01T00:00:00Z",
        machine={"processor": "a processor", "cores": "2"},
        versions={"direct": "", "nginx": "1.2", "forebay": "0.1", "vllm-router": "0.9"},
        missing={},
        plan="full",
        rounds=1,
        streams_wanted=0,
        cases=[CaseFacts("text-1kb", "1 KB text, alone", "cpu")],
        samples=[Sample(name, "text-1kb", 0, 1, cost / 1e6, Result(done=1)) for name, cost in costs.items()],
        notes=["a note"],
    )


def test_figures_are_shown_with_what_was_missed(report):
    text = with_figures(f"before\n{BEGIN}\nafter\n", report)
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| 1 KB text, alone | 100 us | 40 us | 125 us |" in text
    assert "| 0.7 x | 0.80 x | MISSED |" in text
    assert "| 3 x | 2.50 x | met |" in text
    assert "- a note" in text


def test_a_second_run_takes_the_place_of_the_first(report):
    once = with_figures(f"before\n{BEGIN}\nafter\n", report)
    assert with_figures(once, report) == once
    assert once.count(END) == 1


def test_a_readme_without_a_mark_is_refused(report):
    with pytest.raises(ValueError, match="bench table"):
        with_figures("nothing", report)


def test_publish_takes_table_and_picture(report, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "router.json").write_bytes(msgspec.json.encode(report))
    (run / "router.png").write_bytes(b"picture")
    (tmp_path / "README.md").write_text(f"{BEGIN}\n")
    bench_readme.publish(run, tmp_path)
    assert "MISSED" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "docs/images/bench-router.png").read_bytes() == b"picture"
