"""What a probe answers, and the one error that it may raise."""

from typing import TypeAlias

import msgspec

from forebay.domain.ability import Ability

# Contiguous bytes. A memoryview is never copied whole.
Buffer: TypeAlias = bytes | bytearray | memoryview

MICROSECONDS = 1_000_000


class MalformedMedia(ValueError):  # noqa: N818  says what the bytes are, like a header does
    """The magic bytes name a format, but the header behind them is cut short or impossible.

    The message names the format and the fault, never the content.
    """


class MediaHeader(msgspec.Struct, frozen=True, gc=False):
    """What the header says of one media item, before any decode.

    `mime` comes from magic bytes. `width` and `height` are stored pixels, before `orientation` (EXIF 1..8, or a video's
    rotation as the same numbers) is applied. `frames` counts animation frames of an image (1 for a still one, and a
    lower bound for one with more frames than a probe will count) or the frames of a video. `sized` is False where the
    format is recognised but its measures were not read: the caller then prices a configured fallback.
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
