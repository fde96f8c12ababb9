"""Running the router benchmark: every contestant, every case, round after round, in rotated order."""

import datetime as dt
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from forebay.testing.bench.cases import Case, Plan
from forebay.testing.bench.contestants import Contestant
from forebay.testing.bench.cpu import Neighbours
from forebay.testing.bench.decisions import measure_decisions
from forebay.testing.bench.facts import machine_facts
from forebay.testing.bench.generator import Generator
from forebay.testing.bench.jobs import Job, Load
from forebay.testing.bench.lanes import Lane, track
from forebay.testing.bench.memory import affordable_streams, measure_memory
from forebay.testing.bench.processes import Cores, choose_cores
from forebay.testing.bench.results import CaseFacts, Report, Sample

_WARM_UP_SHARE = 0.1
"""The warm-up sends a tenth of each case."""
_WARM_UP_CHUNKS = 20
_WARM_UP_SECONDS = 15.0
"""A router that has not answered a tenth of a case by then will not be waited for again."""
_QUIET_SHARE = 0.05

Tell = Callable[[str], None]


def run(contestants: Sequence[Contestant], plan: Plan, tell: Tell) -> Report:
    """Measure. Progress lines go to `tell`. Raises RuntimeError or TimeoutError when something does not start."""
    cores = choose_cores(sorted(os.sched_getaffinity(0)))
    report = _empty_report(contestants, plan, cores)
    here = [one for one in contestants if one.name in report.versions]
    streams = affordable_streams(plan.open_streams, report.notes)
    neighbours = Neighbours()
    tell("decisions")
    report.decisions = measure_decisions()
    tell("warming up")
    with (
        tempfile.TemporaryDirectory(prefix="forebay-bench-") as folder,
        track(Path(folder), cores) as started,
        Generator(cores.load) as generator,
    ):
        with started.lanes(here) as lanes:
            able = _warm_up(lanes, plan.cases, generator, report.failed)
            report.samples = _rounds(lanes, plan, able, generator, tell)
        if streams:
            report.memory = measure_memory(here, started, streams, generator, tell)
            report.failed += [
                f"{one.contestant} did not open {one.wrong} of its streams: {one.first_wrong}"
                for one in report.memory
                if one.wrong
            ]
        report.notes += [
            f"{one.name} was given {one.share:.0%} of each load: the whole would take it many minutes."
            for one in here
            if one.share < 1
        ]
    report.notes += _noise(neighbours.share())
    return report


def _empty_report(contestants: Sequence[Contestant], plan: Plan, cores: Cores) -> Report:
    versions = {one.name: one.version() for one in contestants}
    report = Report(
        date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        machine=machine_facts(cores),
        versions={name: version for name, version in versions.items() if version},
        missing={one.name: one.cure() for one in contestants if not versions[one.name]},
        plan=plan.name,
        rounds=plan.rounds,
        streams_wanted=plan.open_streams,
        cases=[CaseFacts(case.name, case.title, case.measure) for case in plan.cases],
    )
    if cores.router == cores.load:
        report.notes.append(
            "ONE CORE ONLY: the router shares it with load and engines, so its latencies mean little."
        )
    return report


def _noise(share: float) -> list[str]:
    if share < _QUIET_SHARE:
        return []
    return [
        f"NOISY: other programs used {share:.0%} of this machine meanwhile; latencies suffer most, above all p99."
    ]


def _warm_up(
    lanes: Sequence[Lane], cases: Sequence[Case], generator: Generator, failed: list[str]
) -> set[tuple[str, str]]:
    """Send a little of everything. Returns the contestants and cases that work; the others are described in `failed`."""
    able: set[tuple[str, str]] = set()
    for lane in lanes:
        for case in cases:
            load = _part(case.load, _WARM_UP_SHARE * lane.share, _WARM_UP_CHUNKS)
            seen = generator.perform(Job(load, lane.ports, limit_seconds=_WARM_UP_SECONDS), lane.cpu_seconds)
            if seen.load.done:
                able.add((lane.name, case.name))
            else:
                failed.append(f"{lane.name} gave no right answer to {case.title}: {seen.load.first_wrong}")
    return able


def _part(load: Load, share: float, most_chunks: int) -> Load:
    """That share of a load's requests, and at least one for each connection; a lesser share has fewer streams at once."""
    requests = max(1, round(load.requests * share))
    connections = min(load.connections, requests)
    return msgspec.structs.replace(
        load, requests=requests, connections=connections, chunks=min(load.chunks, most_chunks)
    )


def _rounds(
    lanes: Sequence[Lane], plan: Plan, able: set[tuple[str, str]], generator: Generator, tell: Tell
) -> list[Sample]:
    samples: list[Sample] = []
    for number in range(plan.rounds):
        for case in plan.cases:
            tell(f"round {number + 1} of {plan.rounds}: {case.title}")
            running = [lane for lane in rotated(lanes, number) if (lane.name, case.name) in able]
            samples += [_measure(lane, case, number, generator) for lane in running]
    return samples


def rotated(lanes: Sequence[Lane], number: int) -> list[Lane]:
    """Who goes first changes from round to round, so that no contestant always follows the same one."""
    start = number % len(lanes)
    return [*lanes[start:], *lanes[:start]]


def _measure(lane: Lane, case: Case, number: int, generator: Generator) -> Sample:
    load = case.load if lane.share == 1.0 else _part(case.load, lane.share, case.load.chunks)
    seen = generator.perform(Job(load, lane.ports), lane.cpu_seconds)
    return Sample(lane.name, case.name, number, load.units, seen.after - seen.before, seen.load)
