"""How many frames of a clip an engine takes."""

import msgspec

from forebay.intake.tokens.family import MICROSECONDS, Positive, PositiveFloat


class FrameSampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either `num_frames` spread over the whole clip, or `fps` frames a second within min and max.

    Given `num_frames`, the rate is not looked at (vLLM's `media_io_kwargs`; transformers holds the two exclusive).
    Defaults are those of Qwen's processors in transformers 5.24.
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


# What a clip of unknown measures is taken for: half a minute of 720p at 30 frames a second.
ASSUMED_WIDTH, ASSUMED_HEIGHT, ASSUMED_FRAMES, ASSUMED_DURATION_US = 1_280, 720, 900, 30 * MICROSECONDS


def assume(width: int, height: int, frames: int, duration_us: int) -> tuple[int, int, int, int, bool]:
    """The clip's measures with unknown ones filled in, and whether all of them were known."""
    known = min(width, height, frames, duration_us) > 0
    if width < 1 or height < 1:
        width, height = ASSUMED_WIDTH, ASSUMED_HEIGHT
    if duration_us < 1:
        duration_us = frames * MICROSECONDS // 30 if frames > 0 else ASSUMED_DURATION_US
    if frames < 1:
        frames = max(1, duration_us * 30 // MICROSECONDS)
    return width, height, frames, duration_us, known
