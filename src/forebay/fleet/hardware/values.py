"""Cells of tools' output, as numbers. `[N/A]`, `[Not Supported]`, `ERR!` and their like are None, and so is nonsense."""

import json
import math
import re
from typing import Any

MIB = 1024 * 1024
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def number(cell: Any) -> float | None:
    """Return the number that a cell begins with, as in `37 %`; None where there is none, or it is negative."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    found = _NUMBER.match(cell.strip()) if isinstance(cell, str) else None
    value = float(found[0]) if found else float(cell) if not isinstance(cell, str) else math.nan
    return value if math.isfinite(value) and value >= 0 else None


def share(percent: Any) -> float | None:
    """Return a cell of percent as 0..1, None beyond."""
    value = number(percent)
    return value / 100 if value is not None and value <= 100 else None


def size(cell: Any, unit_bytes: int = 1) -> int | None:
    """Return a cell that counts `unit_bytes` as bytes."""
    value = number(cell)
    return None if value is None else round(value * unit_bytes)


def room(used: int | None, total: int | None) -> tuple[int | None, int | None]:
    """Return memory used and there, each unknown where the pair makes no sense: no device has none."""
    if not total:
        return None, None
    return (used if used is not None and used <= total else None), total


def document(text: str) -> Any:
    """Return the first JSON object or list in `text`, whatever banner stands before it; None when there is none."""
    decoder = json.JSONDecoder()
    for start in re.finditer(r"^\s*(?=[{\[])", text, re.MULTILINE):
        try:
            return decoder.raw_decode(text, start.end())[0]
        except ValueError:
            continue
    return None
