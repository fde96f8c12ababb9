"""Resident memory of each router with many open streams."""

from collections.abc import Callable, Sequence

from forebay.testing.bench.contestants import Contestant
from forebay.testing.bench.generator import Generator
from forebay.testing.bench.jobs import Job, Load
from forebay.testing.bench.lanes import Track
from forebay.testing.bench.processes import raise_file_limit
from forebay.testing.bench.results import Memory
from forebay.testing.bench.targets import OPEN_STREAMS

_SPARE_FILES = 200
"""Descriptors that a router needs beside its streams: listeners, logs, scrapes, libraries."""
_SILENCE_US = 600_000_000
"""The engines say nothing for ten minutes after the first chunk, so that the streams stay open."""


def affordable_streams(wanted: int, notes: list[str]) -> int:
    """How many streams the limit on open files allows (two descriptors each). What a reader must know goes to `notes`."""
    if not wanted:
        notes.append("The memory of many open streams was left out by the caller.")
        return 0
    needed = 2 * wanted + _SPARE_FILES
    limit = raise_file_limit(needed)
    possible = min(wanted, (limit - _SPARE_FILES) // 2)
    if possible < wanted // 2:
        cure = "raise it with `ulimit -n` or in limits.conf"
        notes.append(
            f"MEMORY NOT MEASURED: {wanted} streams need {needed} open files, the limit is {limit}: {cure}."
        )
        return 0
    if possible < wanted:
        notes.append(
            f"{possible:,} of {wanted:,} streams were opened, as the limit on open files is {limit:,}."
        )
    if possible < OPEN_STREAMS:
        notes.append(
            f"The memory with {OPEN_STREAMS:,} streams is drawn on a straight line through the two measured points."
        )
    return possible


def measure_memory(
    contestants: Sequence[Contestant],
    track: Track,
    streams: int,
    generator: Generator,
    tell: Callable[[str], None],
) -> list[Memory]:
    """Each router is started anew and alone, so that no earlier load is in its memory."""
    found: list[Memory] = []
    for contestant in contestants:
        wanted = max(1, round(streams * contestant.share))
        load = Load("stream", wanted, 0, chunks=2, interval_us=_SILENCE_US)
        with track.lane(contestant) as lane:
            if lane.process is None:
                continue
            tell(f"memory of {lane.name} with {wanted} open streams")
            seen = generator.perform(Job(load, lane.ports, hold=True), lane.resident_bytes)
            result = seen.load
            found.append(
                Memory(lane.name, result.done, seen.before, seen.after, result.wrong, result.first_wrong)
            )
    return found
