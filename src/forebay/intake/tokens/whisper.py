"""Whisper. Source: transformers 5.24.0, whisper/feature_extraction_whisper.py; engines cut longer sound into windows."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MICROSECONDS, MediaCost, Positive, PositiveFloat, Rules


class Whisper(Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sound padded to windows of `window_seconds`, each of 3,000 mel frames that one convolution halves to 1,500 positions.

    The decoder attends across to them: they fill cross-attention KV, and engines do not count them as prompt tokens.
    """

    name: ClassVar[str] = "whisper"
    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {"window_seconds": ("chunk_length",)}
    window_seconds: Positive = 30
    positions_per_second: Positive = 50
    assumed_seconds: PositiveFloat = 30.0

    def audio(self, duration_us: int) -> MediaCost:
        """See Family."""
        length_us = duration_us if duration_us > 0 else int(self.assumed_seconds * MICROSECONDS)
        windows = -(-length_us // (self.window_seconds * MICROSECONDS))
        positions = windows * self.window_seconds * self.positions_per_second
        return MediaCost(positions, 0, positions, exact=duration_us > 0, cross_attended=True)
