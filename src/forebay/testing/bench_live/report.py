"""The report of a live bench: a table for people, and the same for programs."""

import datetime as dt
import os

import msgspec

from forebay.simulator.results import standing_of
from forebay.testing.bench.table import grid
from forebay.testing.bench_live.compare import MEAN_BOUND, MEASURES, P99_BOUND, Line, Twins
from forebay.testing.bench_live.settings import LiveSettings

QUIET_SHARE = 0.05
"""Of the machine, taken by other programs: more than that is said."""


class Report(msgspec.Struct, frozen=True):
    """All of one bench. `others_share` is what other programs took of this machine meanwhile, 0..1."""

    date: str
    scenario: str
    title: str
    seed: int
    slowdown: float
    chunk_tokens: int
    simulations: int
    cores: int
    others_share: float
    devices: dict[str, str]
    twins: tuple[Twins, ...]
    modelled: bool = True


def report_of(settings: LiveSettings, twins: tuple[Twins, ...], others_share: float) -> Report:
    """The report of a bench that has run."""
    return Report(
        date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        scenario=settings.scenario.name,
        title=settings.scenario.title,
        seed=settings.seed,
        slowdown=settings.slowdown,
        chunk_tokens=settings.chunk_tokens,
        simulations=settings.simulations,
        cores=len(os.sched_getaffinity(0)),
        others_share=others_share,
        devices=standing_of(settings.scenario),
        twins=twins,
    )


def text_report(report: Report) -> str:
    """Every figure, what was promised of it, and what a reader must know."""
    return "\n\n".join([_heading(report), _table(report), _notes(report)]) + "\n"


def _heading(report: Report) -> str:
    devices = "\n".join(f"  {name}: {standing}" for name, standing in report.devices.items())
    return (
        f"Live beside simulated: scenario {report.scenario}, seed {report.seed}, {report.date}\n"
        f"{report.title}\n"
        f"All times are modelled, on\n{devices}\n"
        f"Run {report.slowdown:g} times as slow on {report.cores} cores, with {report.chunk_tokens} tokens in a piece of a stream; "
        "seconds below are the scenario's."
    )


def _table(report: Report) -> str:
    rows: list[tuple[str, ...]] = [("profile", "", "", "live", "simulated", "chance", "difference", "")]
    for twins in report.twins:
        rows += [_row(line) for line in twins.lines]
    return grid(rows)


def _row(line: Line) -> tuple[str, ...]:
    met = (
        ""
        if line.met is None
        else "met"
        if line.met
        else "MISSED, maybe by chance"
        if line.by_chance
        else "MISSED"
    )
    figure = line.figure if line.figure == "mean" else line.figure.upper()
    times = (f"{line.live:.3f} s", f"{line.simulated:.3f} s", f"{line.chance:.1%}")
    return (line.profile, line.measure, figure, *times, f"{line.difference:+.1%}", met)


def _notes(report: Report) -> str:
    notes = [
        (
            f"Bounds: means within {MEAN_BOUND:.0%}, P99 within {P99_BOUND:.0%} of the simulated, which is a mean of "
            f"{report.simulations} runs with arrivals moved by up to 10 ms. Chance is the standard deviation among them."
        )
    ]
    if len(report.twins) > 1:
        notes += [f"Least mean {measure} first: {_ranking(report, measure)}." for measure in MEASURES]
    for twins in report.twins:
        outside = twins.outside_seconds
        notes.append(
            f"{twins.profile}: {twins.counted} of {twins.requests} requests counted; refused {twins.refused_live} live, "
            f"{twins.refused_simulated:g} simulated. Before a first token {outside.mean * 1e3:.1f} ms of the clock "
            f"(P99 {outside.p99 * 1e3:.1f}) were spent outside the engines; visits left at most "
            f"{twins.lateness_seconds * 1e3:.1f} ms late."
        )
    if report.others_share > QUIET_SHARE:
        notes.append(f"NOISY: other programs took {report.others_share:.0%} of this machine meanwhile.")
    return "\n".join(notes)


def _ranking(report: Report, measure: str) -> str:
    lines = [line for twins in report.twins for line in twins.lines]
    means = [line for line in lines if line.measure == measure and line.figure == "mean"]
    live = [line.profile for line in sorted(means, key=lambda line: line.live)]
    simulated = [line.profile for line in sorted(means, key=lambda line: line.simulated)]
    return f"live {', '.join(live)}; simulated {'the same' if live == simulated else ', '.join(simulated)}"
