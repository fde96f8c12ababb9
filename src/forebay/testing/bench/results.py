"""The record of one benchmark run: everything that the report is made from, and the JSON file."""

from typing import Literal

import msgspec

from forebay.testing.bench.jobs import Result


class Sample(msgspec.Struct):
    """One contestant, one case, one round."""

    contestant: str
    case: str
    round: int
    units: int
    """Requests, or content chunks of streams."""
    cpu_seconds: float
    """User and system time of the router's process tree while the load ran; 0 for `direct`."""
    load: Result

    @property
    def cpu_us(self) -> float:
        """CPU microseconds for each unit."""
        return self.cpu_seconds * 1e6 / self.units


class Memory(msgspec.Struct):
    """Resident memory of one router with many streams open."""

    contestant: str
    streams: int
    idle_bytes: int
    open_bytes: int
    wrong: int
    first_wrong: str = ""

    @property
    def bytes_a_stream(self) -> float:
        """What one more open stream takes."""
        return (self.open_bytes - self.idle_bytes) / max(1, self.streams)

    def at(self, streams: int) -> float:
        """Resident bytes with `streams` open: measured when that many were, on a straight line from there otherwise."""
        return self.open_bytes + (streams - self.streams) * self.bytes_a_stream


class DecisionTime(msgspec.Struct):
    """Microseconds that one placement decision takes over so many endpoints, trace included."""

    profile: str
    endpoints: int
    microseconds: float


class CaseFacts(msgspec.Struct):
    """A case as it was run."""

    name: str
    title: str
    measure: Literal["cpu", "latency"]


class Report(msgspec.Struct):
    """One whole run."""

    date: str
    """ISO 8601, UTC."""
    machine: dict[str, str]
    versions: dict[str, str]
    missing: dict[str, str]
    """Contestants that were asked for and not installed, each with the cure."""
    plan: str
    """`full` or `quick`."""
    rounds: int
    streams_wanted: int
    """Open streams that the memory figure is for; 0 when it was left out."""
    cases: list[CaseFacts]
    samples: list[Sample] = msgspec.field(default_factory=list)
    failed: list[str] = msgspec.field(default_factory=list)
    """Cases that a contestant got wholly wrong in the warm-up, and so sat out."""
    memory: list[Memory] = msgspec.field(default_factory=list)
    decisions: list[DecisionTime] = msgspec.field(default_factory=list)
    """In the bench's own process."""
    notes: list[str] = msgspec.field(default_factory=list)
    """What a reader must know: limits that were hit, streams that were left out."""
