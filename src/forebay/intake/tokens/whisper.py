"""Whisper. Source: transformers 5.24.0, whisper/feature_extraction_whisper.py; engines cut longer sound into windows."""

from typing import ClassVar

from forebay.intake.tokens.family import MediaCost
from forebay.intake.tokens.sound import HearsByWindows


class Whisper(HearsByWindows, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sound padded to windows of `window_seconds`, each of 3,000 mel frames that one convolution halves to 1,500 positions.

    The decoder attends across to them: they fill cross-attention KV, and engines do not count them as prompt tokens.
    """

    name: ClassVar[str] = "whisper"

    def sound(self, samples: int) -> MediaCost:
        """See Hears."""
        positions = max(1, self.windows(samples) * ((self.window_frames() - 1) // 2 + 1))
        return MediaCost(positions, 0, positions, cross_attended=True)
