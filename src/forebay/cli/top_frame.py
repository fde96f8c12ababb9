"""One frame of `forebay top`. Pure: a picture and a width in, something that rich can print out.

Nothing is told by colour alone, and narrow terminals get fewer columns instead of broken lines.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forebay.cli import top_words as words
from forebay.cli.admin_port import shown
from forebay.cli.top_ask import Picture

Row = dict[str, Any]

MANY = 100_000
# Below the endpoints there is room for headings and a few decisions; what is still too long, the terminal cuts.
LINES_BESIDE = 14
LEAST_ENDPOINTS = 5

STATE_STYLES = {"up": "green", "down": "bold red", "resting": "bold red", "draining": "yellow"}

SORTS: Mapping[str, Callable[[Row], Any]] = {
    "name": lambda row: (row["pool"], row["name"]),
    "load": lambda row: -((row["believed"] or {}).get("in_flight") or 0),
    "kv": lambda row: -((row["seen"] or {}).get("kv_usage") or 0),
    "ttft": lambda row: -((row.get("served") or {}).get("ttft_p50_ms") or 0),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: shown on terminals of at least so many signs. A `loose` one gives way where lines grow too long."""

    title: str
    width_from: int
    cell: Callable[[Row], str]
    left: bool = False
    loose: bool = False


def _of(part: str, name: str, form: Callable[[Any], str]) -> Callable[[Row], str]:
    return lambda row: form((row.get(part) or {}).get(name))


ENDPOINTS = (
    Column("endpoint", 0, lambda row: str(row["name"]), left=True, loose=True),
    Column("pool", 90, lambda row: str(row["pool"]), left=True),
    Column("state", 0, words.state, left=True),
    Column("open", 0, _of("believed", "in_flight", words.count)),
    Column("decode", 84, _of("believed", "decoding", words.count)),
    Column("others", 120, _of("believed", "foreign", words.count)),
    Column("queue", 50, _of("seen", "waiting", words.count)),
    Column("KV", 56, _of("seen", "kv_usage", words.percent)),
    Column("TTFT", 64, _of("served", "ttft_p50_ms", words.milliseconds)),
    Column("tokens/s", 74, _of("served", "output_tokens_per_second", words.rate)),
    Column("backlog", 130, _of("believed", "backlog_us", words.microseconds)),
    Column("gap p95", 140, _of("believed", "gap_p95_us", words.microseconds)),
    Column("seen", 100, _of("seen", "age_seconds", words.age)),
    Column("score", 110, lambda row: words.score(row["score"])),
)

DECISIONS = (
    Column("age", 60, lambda row: words.age(row["age_seconds"])),
    Column("request", 84, lambda row: words.tail(row["request_id"]), left=True),
    Column("prompt", 50, words.demand),
    Column("to", 0, lambda row: str(row["decisions"][-1]["chosen"] or "nobody"), left=True),
    Column("TTFT / all", 0, words.ending, left=True),
    Column("why", 100, lambda row: str(row["decisions"][-1]["why"]), left=True, loose=True),
)


def frame(picture: Picture, width: int, height: int = MANY, sort: str = "name") -> RenderableType:
    """Draw `picture` for a terminal of `width` signs and `height` lines."""
    rows = sorted(_scored(picture), key=SORTS[sort])
    shown = rows[: max(height - LINES_BESIDE, LEAST_ENDPOINTS)]
    rest = f", the first {len(shown)} of {len(rows)}" if len(shown) < len(rows) else ""
    return Group(
        _headline(picture, rows),
        Text(f"\nendpoints by {sort}{rest}", "bold"),
        _table(ENDPOINTS, shown, width),
        Text("\nlatest requests", "bold"),
        _table(DECISIONS, _aged(picture), width),
    )


def _headline(picture: Picture, rows: list[Row]) -> Text:
    told = Text(f"forebay  {shown(picture.admin)}  ")
    if picture.trouble:
        told.append(f"AS OF {words.age(time.time() - picture.taken_at)} AGO: {picture.trouble}", "bold red")
    else:
        told.append(time.strftime("%H:%M:%S", time.localtime(picture.taken_at)))
    for pool in dict.fromkeys(row["pool"] for row in rows):
        told.append("\n" + _pool_line(pool, [row for row in rows if row["pool"] == pool]))
    return told


def _pool_line(pool: str, rows: list[Row]) -> str:
    up = sum(words.state(row) not in {"down", "resting", "draining"} for row in rows)
    open_requests = sum((row["believed"] or {}).get("in_flight") or 0 for row in rows)
    rate = sum((row.get("served") or {}).get("output_tokens_per_second") or 0 for row in rows)
    return f"{pool}: {up} of {len(rows)} up, {open_requests:g} open, {words.rate(rate)} tokens/s"


def _table(columns: Iterable[Column], rows: Iterable[Row], width: int) -> Table:
    shown = [column for column in columns if width >= column.width_from]
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in shown:
        table.add_column(column.title, justify="left" if column.left else "right", no_wrap=not column.loose)
    for row in rows:
        cells = [column.cell(row) for column in shown]
        table.add_row(
            *(Text(cell, STATE_STYLES.get(cell, ""), no_wrap=True, overflow="ellipsis") for cell in cells)
        )
    return table


def _scored(picture: Picture) -> list[Row]:
    """The endpoints, each with its total in the newest decision that it was a candidate of."""
    totals: dict[str, float | None] = {}
    for request in picture.requests:
        for candidate in request["decisions"][-1]["candidates"]:
            totals.setdefault(candidate["endpoint"], candidate["total"])
    return [{**endpoint, "score": totals.get(endpoint["name"])} for endpoint in picture.endpoints]


def _aged(picture: Picture) -> list[Row]:
    return [
        {**request, "age_seconds": max(0.0, (picture.at_us - request["decisions"][-1]["at_us"]) / 1e6)}
        for request in picture.requests
    ]
