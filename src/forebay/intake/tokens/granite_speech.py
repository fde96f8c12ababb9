"""Granite Speech. Source: transformers 5.24.0, granite_speech/feature_extraction_granite_speech.py."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat, Rules
from forebay.intake.tokens.sound import Hears


class GraniteSpeech(Hears, Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """10 tokens a second: two mel frames of 10 ms make a position, and each begun window of 15 positions 3 tokens."""

    name: ClassVar[str] = "granite-speech"
    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sampling_rate": ("sampling_rate", "melspec_kwargs.sample_rate"),
        "hop_length": ("hop_length", "melspec_kwargs.hop_length"),
        "projector_window_size": ("projector_window_size",),
        "projector_downsample_rate": ("projector_downsample_rate",),
    }
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    projector_window_size: Positive = 15
    projector_downsample_rate: Positive = 5
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears. Sound shorter than a mel frame makes no token there; it is priced at one, and not exact."""
        positions = (samples // self.hop_length + 1) // 2
        windows = -(-positions // self.projector_window_size)
        tokens = windows * (self.projector_window_size // self.projector_downsample_rate)
        return MediaCost(max(1, tokens), 0, max(1, positions), tokens > 0)
