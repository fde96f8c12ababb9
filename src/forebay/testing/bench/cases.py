"""The cases of the router benchmark, in their full and their quick size.

What a small request costs depends on how many come at once: a busy router wakes up once for several. So the small text is
measured alone (one connection: each request finds the router asleep) and busy (16 connections: the router never sleeps).
"""

from dataclasses import dataclass
from typing import Literal

from forebay.testing.bench.jobs import Load

Measure = Literal["cpu", "latency"]


@dataclass(frozen=True)
class Case:
    """One kind of load and what is read off it."""

    name: str
    title: str
    load: Load
    measure: Measure = "cpu"


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    name: str
    rounds: int
    cases: tuple[Case, ...]
    open_streams: int
    """Streams held open for the memory figure; 0 leaves it out."""


_IMAGE_300_KB = 320
"""Pixels a side: 3 x 320^2 bytes of noise are 307 kB, 410 kB of base64."""
_IMAGE_3_MB = 1000
"""Pixels a side: 3 MB of noise, 4 MB of base64."""


def full_plan(rounds: int = 7, open_streams: int = 10_000) -> Plan:
    """What published figures are made with: six to eight minutes."""
    cases = _cases(text=4000, small_images=400, large_images=60, streams=100, chunks=200, latency=300)
    return Plan("full", rounds, cases, open_streams)


def quick_plan(rounds: int = 3, open_streams: int = 500) -> Plan:
    """Under a minute: for watching a change, not for publishing."""
    cases = _cases(text=1000, small_images=100, large_images=10, streams=50, chunks=60, latency=40)
    return Plan("quick", rounds, cases, open_streams)


def _cases(
    *, text: int, small_images: int, large_images: int, streams: int, chunks: int, latency: int
) -> tuple[Case, ...]:
    stream = Load("stream", streams, streams, chunks=chunks, interval_us=10_000)
    return (
        Case("text-1kb", "1 KB text, alone", Load("text", text, 1)),
        Case("text-1kb-busy", "1 KB text, busy", Load("text", text, 16)),
        Case("image-300kb", "300 KB image", Load("image", small_images, 4, size=_IMAGE_300_KB)),
        Case("image-3mb", "3 MB image", Load("image", large_images, 4, size=_IMAGE_3_MB)),
        Case("stream-chunk", "stream chunk", stream),
        Case("latency", "1 KB text, 50/s", Load("text", latency, 8, rate=50.0), measure="latency"),
    )
