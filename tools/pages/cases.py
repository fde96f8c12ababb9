"""Public bug reports, and the tests that cover them."""

import json
import re
from pathlib import Path

from pages.text import table

ROOT = Path(__file__).resolve().parent.parent.parent


def cases() -> str:
    known = [json.loads(line) for line in (ROOT / "tests/cases/cases.jsonl").read_text().splitlines()]
    ids = {case["id"] for case in known}
    files: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for case in {
            f"P{number}"
            for number in re.findall(r"(?<![A-Za-z0-9])[pP](\d\d)(?!\d)", path.read_text().replace("_", " "))
        } & ids:
            files.setdefault(case, []).append(f"`{path.relative_to(ROOT)}`")
    rows = [
        [
            case["id"],
            _issue(case["source"]),
            case["symptom"],
            ", ".join(files.get(case["id"], [])) or "not yet",
        ]
        for case in known
    ]
    text = "# Cases\n\nFaults that users of other routers and engines reported in public, and the tests here that hold Forebay to the right "
    return (
        text
        + "outcome. A case without a test belongs to a part that is not built yet.\n\n"
        + table(["Case", "Report", "Symptom", "Tests"], rows)
    )


def _issue(source: str) -> str:
    repository, _, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})"
