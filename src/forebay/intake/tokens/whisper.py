"""Whisper. Source: transformers 5.24.0, whisper/feature_extraction_whisper.py; engines cut longer sound into windows."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat, Rules
from forebay.intake.tokens.sound import Hears


class Whisper(Hears, Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sound padded to windows of `window_seconds`, each of 3,000 mel frames that one convolution halves to 1,500 positions.

    The decoder attends across to them: they fill cross-attention KV, and engines do not count them as prompt tokens.
    """

    name: ClassVar[str] = "whisper"
    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "window_seconds": ("chunk_length",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    window_seconds: Positive = 30
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears."""
        windows = -(-samples // (self.window_seconds * self.sampling_rate))
        frames = self.window_seconds * self.sampling_rate // self.hop_length
        positions = windows * ((frames - 1) // 2 + 1)
        return MediaCost(max(1, positions), 0, max(1, positions), cross_attended=True)
