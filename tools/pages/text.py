"""Pieces of Markdown."""

import inspect
from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return (
        "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
        + "\n"
    )


def prose(owner: Any) -> str:
    return (inspect.getdoc(owner) or "") + "\n\n"
