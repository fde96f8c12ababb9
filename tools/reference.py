"""Make the reference pages that follow from the code. With `--check`, exit 1 and show the difference when one is stale.

Every page is a pure function of the code and of the tests' text: no dates, no versions, no machine.
"""

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from pages.cases import cases
from pages.commandline import cli
from pages.configuration import configuration
from pages.families import families
from pages.metrics import metrics
from pages.scenarios import scenarios

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTICE = "<!-- Made by tools/reference.py from the code. Do not edit. -->\n\n"
PAGES: dict[str, Callable[[], str]] = {
    "configuration.md": configuration,
    "metrics.md": metrics,
    "cli.md": cli,
    "families.md": families,
    "cases.md": cases,
    "scenarios.md": scenarios,
}


def made(page: str) -> str:
    """The page's whole text."""
    return NOTICE + PAGES[page]().rstrip() + "\n"


def difference(folder: Path, page: str) -> Iterator[str]:
    """Lines of a unified diff from the page in `folder` to what it should be; none when it is fresh."""
    path = folder / page
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    return difflib.unified_diff(
        before.splitlines(keepends=True),
        made(page).splitlines(keepends=True),
        f"{folder.name}/{page}",
        "from the code",
    )


def check(folder: Path) -> int:
    """Print what is stale. Returns the exit status."""
    stale = 0
    for page in PAGES:
        lines = list(difference(folder, page))
        stale += bool(lines)
        sys.stdout.writelines(lines)
    if stale:
        print(f"{stale} pages are stale: run tools/reference.py")
    return 1 if stale else 0


def write(folder: Path) -> int:
    """Write every page. Returns the exit status."""
    for page in PAGES:
        (folder / page).write_text(made(page), encoding="utf-8")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    return (check if parser.parse_args().check else write)(FOLDER)


if __name__ == "__main__":
    sys.exit(main())
