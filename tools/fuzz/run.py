"""Fuzz every reader of strangers' bytes: `run.py [--seconds N] [--jobs N] [--folder DIR] [TARGET ...]`.

The time is split evenly. What was learned stays in the folder, so that the next run goes on from there. Ends with a
table, and with status 1 when there are findings: those are inputs, and belong into a regression test once understood.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from targets import ROOT, targets

HERE = Path(__file__).parent
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
_COVERED = re.compile(r"cov: (\d+) ft: (\d+)")


class Result(NamedTuple):
    """One target's run. `covered` are the branches of instrumented code that were reached; times are CPU time."""

    name: str
    seconds: float
    executions: int
    covered: int
    worst_us: int
    worst_bytes: int
    findings: tuple[str, ...]

    def row(self) -> str:
        """A line of the table."""
        found = ", ".join(self.findings) or "none"
        worst = f"{self.worst_us / 1000:.2f} ms ({self.worst_bytes} bytes)" if self.worst_us else "< 0.1 ms"
        return (
            f"| {self.name} | {self.seconds:.0f} | {self.executions:,} | {self.covered} | {worst} | {found} |"
        )


TITLE = "| target | seconds | executions | branches | worst CPU time | findings |\n|---|---|---|---|---|---|"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="all together (default 60)")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time (default 1)")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".fuzz", help="corpus, findings and logs (default .fuzz)"
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all when left out")
    given = parser.parse_args()
    known = list(targets())
    strange = sorted({*given.targets} - {*known})
    if strange:
        parser.error(f"no target `{strange[0]}`; there are {', '.join(known)}")
    names = given.targets or known
    seconds = max(1, round(given.seconds * given.jobs / len(names)))
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda name: fuzz(name, seconds, given.folder), names))
    print(TITLE, *(result.row() for result in results), sep="\n")
    return 1 if any(result.findings for result in results) else 0


def fuzz(name: str, seconds: int, folder: Path) -> Result:
    """Fuzz one target in a process of its own."""
    corpus, findings = folder / "corpus" / name, folder / "findings" / name
    for each in (corpus, findings):
        each.mkdir(parents=True, exist_ok=True)
    log, stats = folder / f"{name}.log", findings / f"{name}.json"
    stats.unlink(missing_ok=True)
    started = time.monotonic()
    with log.open("wb") as out:
        command = [sys.executable, str(HERE / "one.py"), name, str(seconds), str(corpus), str(findings)]
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    # libFuzzer keeps a second copy of an input that made us raise.
    kept = sorted(path.name for path in findings.iterdir() if path != stats)
    found = tuple(each for each in kept if not each.startswith(f"libfuzzer-{name}-crash"))
    if status and not found:
        found = (f"failed, see {log}",)
    result = read_log(name, log.read_text(errors="replace"), stats, time.monotonic() - started, found)
    print(result.row(), flush=True)
    return result


def read_log(name: str, log: str, stats: Path, seconds: float, found: tuple[str, ...]) -> Result:
    """A run's figures, from what libFuzzer printed and from the worst time that was kept."""
    executions = [int(each) for each in _EXECUTED.findall(log)]
    covered = [int(each[0]) for each in _COVERED.findall(log)]
    worst = json.loads(stats.read_text()) if stats.exists() else {"worst_us": 0, "worst_bytes": 0}
    return Result(
        name,
        seconds,
        executions[-1] if executions else 0,
        covered[-1] if covered else 0,
        **worst,
        findings=found,
    )


if __name__ == "__main__":
    sys.exit(main())
