"""What a probe answers, and the one error that it may raise."""

import struct
from typing import TypeAlias

import msgspec

from forebay.domain.ability import Ability

# Contiguous bytes. A memoryview is never copied whole.
Buffer: TypeAlias = bytes | bytearray | memoryview

MICROSECONDS = 1_000_000

# What a read beyond the end raises, also when a claimed offset is beyond any memory.
CUT = (IndexError, struct.error, OverflowError)


class MalformedMedia(ValueError):  # noqa: N818  says what the bytes are, like a header does
    """The magic bytes name a format, but the header behind them is cut short or impossible.

    The message names the format and the fault, never the content.
    """


class MediaHeader(msgspec.Struct, frozen=True, gc=False):
    """What the header says of one media item, before any decode.

    `mime` comes from the bytes. `width` and `height` are stored pixels, before `orientation` (EXIF 1..8, or a video's
    rotation as the same numbers) is applied; of formats that every decoder turns by itself (TIFF, HEIC) they are the
    upright ones, and `orientation` is 1. `frames` counts animation frames of an image (1 for a still one, and a lower
    bound for one with more frames than a probe will count) or the frames of a video. `duration_us` is in microseconds.
    `sized` is False where the measures were not read, or only estimated: the price is then marked approximate, and a
    measure of 0 is priced by a configured fallback.
    """

    mime: str
    modality: Ability
    width: int = 0
    height: int = 0
    frames: int = 1
    duration_us: int = 0
    orientation: int = 1
    has_audio: bool = False
    sized: bool = True

    @property
    def pixels(self) -> int:
        """Pixels of one frame."""
        return self.width * self.height


def image(mime: str, width: int, height: int, frames: int = 1, orientation: int = 1) -> MediaHeader:
    """Header of a picture. Raises MalformedMedia for a picture without area."""
    if width < 1 or height < 1:
        raise MalformedMedia(f"{mime}: a picture of {width}x{height} pixels")
    return MediaHeader(mime, Ability.IMAGE, width, height, frames, orientation=orientation)


def sound(mime: str, duration_us: int, *, exact: bool = True) -> MediaHeader:
    """Header of a sound. A duration that is not `exact` is an estimate, and one of 0 is unknown."""
    return MediaHeader(
        mime, Ability.AUDIO, duration_us=duration_us, has_audio=True, sized=exact and duration_us > 0
    )


def clip(
    mime: str,
    width: int,
    height: int,
    frames: int,
    duration_us: int,
    *,
    orientation: int = 1,
    has_audio: bool = False,
    exact: bool = True,
) -> MediaHeader:
    """Header of a video; 0 frames and a duration of 0 are unknown. Raises MalformedMedia for one without area."""
    if width < 1 or height < 1:
        raise MalformedMedia(f"{mime}: a video of {width}x{height} pixels")
    sized = exact and frames > 0 and duration_us > 0
    return MediaHeader(
        mime, Ability.VIDEO, width, height, frames, duration_us, orientation, has_audio, sized=sized
    )


def unsized(mime: str, modality: Ability) -> MediaHeader:
    """Header of a medium that is known by its first bytes only."""
    return MediaHeader(mime, modality, frames=1 if modality is Ability.IMAGE else 0, sized=False)
