"""A page of counters: a small file that one process writes and another reads, without a lock between them."""

import bisect
import mmap
from pathlib import Path

MODALITIES = ("image", "video", "audio", "other")
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds: a thumbnail takes a few milliseconds on an accelerator, a long clip seconds."""

_BUCKETS = len(BUCKETS_SECONDS) + 1  # and one for what is slower than all
_ITEMS, _MICROSECONDS, _FIRST_BUCKET = 0, 1, 2
_ROW = _FIRST_BUCKET + _BUCKETS
PAGE_BYTES = 8 * _ROW * len(MODALITIES)


class Row:
    """What was counted of one modality."""

    def __init__(self, values: list[int]) -> None:
        """Of the numbers as they stand in a page."""
        self.items = values[_ITEMS]
        self.microseconds = values[_MICROSECONDS]
        self.buckets = values[_FIRST_BUCKET:]

    def __add__(self, other: "Row") -> "Row":
        """Both together."""
        buckets = [a + b for a, b in zip(self.buckets, other.buckets, strict=True)]
        return Row([self.items + other.items, self.microseconds + other.microseconds, *buckets])


NOTHING = Row([0] * _ROW)


class Page:
    """The writer's side. Eight aligned bytes are written at once, so that a reader sees old or new and nothing between."""

    def __init__(self, memory: memoryview) -> None:
        """Of `PAGE_BYTES` bytes, zero when fresh."""
        self._numbers = memory.cast("q")

    @classmethod
    def open(cls, path: Path) -> "Page":
        """A fresh page at `path`. Raises OSError."""
        with path.open("w+b") as file:
            file.truncate(PAGE_BYTES)
            return cls(memoryview(mmap.mmap(file.fileno(), PAGE_BYTES)))

    def add(self, modality: str, items: int, seconds: float) -> None:
        """Count one encoder call."""
        row = _ROW * MODALITIES.index(modality if modality in MODALITIES else "other")
        self._numbers[row + _ITEMS] += items
        self._numbers[row + _MICROSECONDS] += round(seconds * 1e6)
        self._numbers[row + _FIRST_BUCKET + bisect.bisect_left(BUCKETS_SECONDS, seconds)] += 1


def read(path: Path) -> dict[str, Row]:
    """The rows of a page, by modality; none of a page that is not whole."""
    data = path.read_bytes()
    if len(data) != PAGE_BYTES:
        return {}
    numbers = memoryview(data).cast("q").tolist()
    return {name: Row(numbers[_ROW * at : _ROW * (at + 1)]) for at, name in enumerate(MODALITIES)}
