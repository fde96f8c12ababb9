"""The README's word on placement comes from a run's JSON, and from nowhere else."""

import pytest

import proof_readme
from forebay.testing.proof.figures import FIGURES
from forebay.testing.proof.report import CaseReport, Proof, Row, Verdict, encode
from pages.proof import BEGIN, END, RIVALS, with_placement


@pytest.fixture
def proof():
    figures = {**dict.fromkeys(FIGURES, 1.0), "throughput": 9.0}
    changes = dict.fromkeys(FIGURES, (-0.25, -0.3, -0.2))
    rows = [Row("predictive", figures, {}), *(Row(rival, figures, changes) for rival in RIVALS)]
    verdicts = [
        Verdict("TTFT mean <= -35%", -0.25, -0.3, -0.2, met=False),
        Verdict("E2E", -0.2, -0.3, -0.1, met=True),
    ]
    return Proof("predictive", [1, 2], [CaseReport("A", "a case", {}, rows, verdicts, ["round-robin"])])


def test_changes_and_what_was_missed_are_shown(proof):
    text = with_placement(f"before\n{BEGIN}\nafter\n", proof)
    assert "| A: a case | -25% | -25% | -25% | -25% | -25% | -25% |" in text
    assert "1 of 2 gates met" in text
    assert "Modelled" in text
    assert "- MISSED, case A: TTFT mean <= -35%; measured -25.0% [-30.0% .. -20.0%]" in text
    assert "- MISSED, case A: round-robin has a lower E2E mean" in text
    assert with_placement(text, proof) == text
    assert text.count(END) == 1


def test_a_readme_without_a_mark_is_refused(proof):
    with pytest.raises(ValueError, match="placement table"):
        with_placement("nothing", proof)


def test_publish_takes_table_and_plot(proof, tmp_path):
    (tmp_path / "README.md").write_text(f"{BEGIN}\n")
    (tmp_path / "placement.json").write_bytes(encode(proof))
    proof_readme.publish(tmp_path, tmp_path)
    assert "gates met" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "docs/images/bench-placement.png").read_bytes().startswith(b"\x89PNG")
