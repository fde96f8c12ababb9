"""Sound that is a row of frames without an index: MP3 and AAC. The length is that of all frames."""

from collections.abc import Callable
from typing import TypeAlias

from forebay.intake.media.header import MICROSECONDS, Buffer

# 107 s of MP3 at 44.1 kHz and 95 s of AAC, in 1 to 2 ms. What lies behind is taken to be like it.
MAX_FRAMES = 4_096

# Length with header in bytes, samples, and samples a second. A plain tuple, since there are thousands.
Frame: TypeAlias = tuple[int, int, int]


def length(data: Buffer, end: int, frame_at: Callable[[Buffer, int], Frame | None]) -> tuple[int, bool]:
    """Microseconds of the frames up to `end`, and whether that is exact.

    It is where every frame was seen, or where all that were seen differ by no more than a byte of padding: a constant
    bit rate. A last frame that is cut counts, since decoders give what there is of it. Anything else behind the frames
    (a tag) ends them.
    """
    at = samples = rate = 0
    sizes: set[int] = set()
    for _ in range(MAX_FRAMES):
        frame = frame_at(data, at) if at < end else None
        if frame is None:
            return (samples * MICROSECONDS // rate if rate else 0), True
        size, more, rate = frame
        samples += more
        sizes.add(size)
        at += size
    whole = samples * max(end, at) // at
    return whole * MICROSECONDS // rate, max(sizes) - min(sizes) <= 1
