"""What the fuzzer starts from, and what it found, is read without a fault. No fuzzing: that is `make fuzz`."""

import sys
from pathlib import Path

import pytest

from forebay.intake.media.probe import FORMATS

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/fuzz"))

import run
import targets as fuzz

TARGETS = fuzz.targets()
FOUND = [path for path in sorted(fuzz.FINDINGS.iterdir()) if path.suffix != ".md"]


def test_every_format_is_a_target_with_files_to_start_from():
    assert {known.__name__.rpartition(".")[2] for known in FORMATS} <= {*TARGETS}
    assert all(target.seeds for target in TARGETS.values())


@pytest.mark.parametrize("name", TARGETS)
def test_what_fuzzing_starts_from_is_read_or_refused(name):
    target = TARGETS[name]
    for seed in target.seeds:
        target.replay(seed)
        target.replay(target.stretched(seed))
        target.replay(seed[: len(seed) // 2])


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_is_mended(path):
    name = max((name for name in TARGETS if path.name.startswith(name)), key=len)
    TARGETS[name].replay(path.read_bytes())


def test_a_fault_is_not_taken_for_a_refusal():
    broken = fuzz.Target(lambda data: data[5], (ValueError,), ())
    with pytest.raises(IndexError):
        broken.replay(b"abc")


def test_a_runs_figures_are_read_from_its_log(tmp_path):
    stats = tmp_path / "png.json"
    log = "#2 INITED cov: 5 ft: 6\n#9 NEW    cov: 28 ft: 52 corp: 3\nstat::number_of_executed_units: 4711\n"
    assert run.read_log("png", log, stats, 7.4, ()) == run.Result("png", 7.4, 4711, 28, 0, 0, ())
    stats.write_text('{"worst_us": 1234, "worst_bytes": 99}')
    assert (
        run.read_log("png", log, stats, 7.4, ("x",)).row()
        == "| png | 7 | 4,711 | 28 | 1.23 ms (99 bytes) | x |"
    )
    assert run.read_log("png", "no module", stats, 1, ()).executions == 0
