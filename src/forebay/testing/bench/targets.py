"""What Forebay promises, and whether this run kept it."""

from typing import NamedTuple

from forebay.testing.bench.figures import Figures
from forebay.testing.bench.results import Report

CONTENDER = "forebay"
MEGABYTE = 1_000_000
MANY_ENDPOINTS = 1024
OPEN_STREAMS = 10_000
"""The memory promise is about this many; a run with fewer extends its figure to them on a straight line."""


class Target(NamedTuple):
    """One promise: a figure that must not exceed a limit. No figure means that it was not measured."""

    what: str
    figure: float | None
    limit: float
    unit: str = ""

    @property
    def state(self) -> str:
        """`met`, `MISSED` or `not measured`."""
        if self.figure is None:
            return "not measured"
        return "met" if self.figure <= self.limit else "MISSED"


def targets(report: Report) -> list[Target]:
    """All promises, in the order of the table."""
    figures = Figures(report)
    found: list[Target] = []
    for case in report.cases:
        if case.measure == "cpu":
            least = 1.0 if case.name == "stream-chunk" else 0.7
            found += [
                _ratio(figures, case.name, case.title, "vllm-router", least),
                _ratio(figures, case.name, case.title, "nginx", 3.0),
            ]
        else:
            found += [
                _added(figures, case.name, "p50", 0.50, 400.0),
                _added(figures, case.name, "p99", 0.99, 2000.0),
            ]
    return [*found, *_memory(report), *_decision(report)]


def _ratio(figures: Figures, case: str, title: str, peer: str, limit: float) -> Target:
    ratio = figures.ratio(CONTENDER, peer, case)
    return Target(f"CPU of {title}, times {peer}", ratio and ratio.median, limit, "x")


def _added(figures: Figures, case: str, name: str, share: float, limit_us: float) -> Target:
    added = figures.added_us(CONTENDER, case, share)
    return Target(
        f"added latency at 50 requests a second, {name}", added and added.median / 1000, limit_us / 1000, "ms"
    )


def _memory(report: Report) -> list[Target]:
    if not report.streams_wanted:
        return []
    found = next((one for one in report.memory if one.contestant == CONTENDER), None)
    figure = found.at(OPEN_STREAMS) / MEGABYTE if found else None
    return [Target("memory with 10,000 open streams", figure, 600.0, "MB")]


def _decision(report: Report) -> list[Target]:
    slowest = max(
        (one.microseconds for one in report.decisions if one.endpoints >= MANY_ENDPOINTS), default=None
    )
    if slowest is None:
        return []
    return [Target("a decision over 1,024 endpoints, the slowest profile", slowest / 1000, 1.0, "ms")]
