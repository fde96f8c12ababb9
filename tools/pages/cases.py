"""Public bug reports, and the tests that cover them."""

import json
import re
from pathlib import Path

from pages.text import table

ROOT = Path(__file__).resolve().parent.parent.parent
TEST_OF_CASE = re.compile(r"(?:def test_|class Test)[pP](\d\d)")


def cases() -> str:
    known = [json.loads(line) for line in (ROOT / "tests/cases/cases.jsonl").read_text().splitlines()]
    ids = {case["id"] for case in known}
    files: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for case in {f"P{number}" for number in TEST_OF_CASE.findall(path.read_text())} & ids:
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
        + "outcome. A case may be covered in part. A case without a test belongs to a part that is not built yet.\n\n"
        + table(["Case", "Report", "Symptom", "Tests"], rows)
    )


def _issue(source: str) -> str:
    repository, _, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})"
