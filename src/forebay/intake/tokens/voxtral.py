"""Voxtral. Source: transformers 5.24.0, voxtral/processing_voxtral.py and modeling_voxtral.py."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat, Rules
from forebay.intake.tokens.sound import Hears

# [BEGIN_AUDIO], which Mistral's tokenizer writes before the placeholders.
WRAPPER_TOKENS = 1
# Whisper's first convolutions halve the mel frames; the adapter stacks four positions into one token.
ENCODER_DOWNSAMPLING, STACKED = 2, 4


class Voxtral(Hears, Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """375 tokens for each 30 seconds that have begun: sound is filled up with silence to whole windows."""

    name: ClassVar[str] = "voxtral"
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
        positions = max(STACKED, frames // ENCODER_DOWNSAMPLING) * windows
        return MediaCost(positions // STACKED, WRAPPER_TOKENS, positions)
