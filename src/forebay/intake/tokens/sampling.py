"""How many frames of a clip an engine takes."""

from typing import NamedTuple

import msgspec

from forebay.intake.tokens.family import MICROSECONDS, Positive, PositiveFloat


class FrameSampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either `num_frames` spread over the whole clip, or `fps` frames a second within min and max.

    Given `num_frames`, the rate is not looked at (transformers holds the two exclusive). Defaults are those of Qwen's
    processors in transformers 5.24.
    """

    num_frames: Positive | None = None
    fps: PositiveFloat = 2.0
    min_frames: Positive = 4
    max_frames: Positive = 768

    def count(self, frames: int, duration_us: int, multiple: int = 1) -> int:
        """Frames taken of a clip, at least 1 and never more than it has. By rate they are a multiple, rounded down."""
        if self.num_frames is not None:
            return min(self.num_frames, frames)
        wanted = duration_us * self.fps / MICROSECONDS
        most = min(self.max_frames, frames) // multiple * multiple
        taken = int(min(max(wanted, self.min_frames), most)) // multiple * multiple
        return max(1, taken)


# Where a configuration for clips keeps it; see `Rules.clips_configured_at`.
SAMPLED_AT = {f"sampling.{key}": (key,) for key in ("num_frames", "fps", "min_frames", "max_frames")}


class Clip(NamedTuple):
    """A clip's measures, and whether all of them are `known` from its header."""

    width: int
    height: int
    frames: int
    duration_us: int
    known: bool


class AssumedClip(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What stands in for measures that a clip's header does not tell: half a minute of 720p at 30 frames a second."""

    width: Positive = 1_280
    height: Positive = 720
    seconds: PositiveFloat = 30.0
    frames_per_second: PositiveFloat = 30.0

    def fill(self, width: int, height: int, frames: int, duration_us: int) -> Clip:
        """The measures with unknown ones, which are 0, filled in. A known length tells the frames, and the reverse."""
        known = min(width, height, frames, duration_us) > 0
        if width < 1 or height < 1:
            width, height = self.width, self.height
        if duration_us < 1:
            seconds = frames / self.frames_per_second if frames > 0 else self.seconds
            duration_us = max(1, int(seconds * MICROSECONDS))
        if frames < 1:
            frames = max(1, int(duration_us * self.frames_per_second / MICROSECONDS))
        return Clip(width, height, frames, duration_us, known)
