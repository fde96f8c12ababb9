"""Fail when a room's branch coverage falls below its floor: 100 % where decisions are made, 90 % elsewhere."""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

FULL = {"conductor", "admission", "placement"}
FLOOR_PERCENT = 90.0


def rooms() -> dict[str, tuple[int, int]]:
    """Covered and total lines plus branches of each room, from the data of the last test run."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        # No check on the exit status of combine: there is nothing to combine after a run in one process.
        subprocess.run(
            [sys.executable, "-m", "coverage", "combine", "-q"], check=False, stderr=subprocess.DEVNULL
        )
        subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", str(report)], check=True)
        files = json.loads(report.read_text())["files"]
    totals: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for name, entry in files.items():
        room = Path(name).parts[2] if len(Path(name).parts) > 3 else "forebay"
        summary = entry["summary"]
        covered, total = totals[room]
        totals[room] = (
            covered + summary["covered_lines"] + summary["covered_branches"],
            total + summary["num_statements"] + summary["num_branches"],
        )
    return dict(totals)


def main() -> int:
    """Print each room's coverage and whether it holds."""
    low = []
    for room, (covered, total) in sorted(rooms().items()):
        percent = 100.0 * covered / total if total else 100.0
        floor = 100.0 if room in FULL else FLOOR_PERCENT
        print(f"{room:12s} {percent:6.1f} %  (floor {floor:.0f})")
        if percent < floor:
            low.append(room)
    if low:
        print(f"below the floor: {', '.join(low)}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
