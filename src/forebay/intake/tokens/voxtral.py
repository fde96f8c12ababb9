"""Voxtral. Source: transformers 5.24.0, voxtral/processing_voxtral.py and modeling_voxtral.py."""

from typing import ClassVar

from forebay.intake.tokens.family import MediaCost
from forebay.intake.tokens.sound import HearsByWindows

# [BEGIN_AUDIO], which Mistral's tokenizer writes before the placeholders.
WRAPPER_TOKENS = 1
# Whisper's first convolutions halve the mel frames; the adapter stacks four positions into one token.
ENCODER_DOWNSAMPLING, STACKED = 2, 4


class Voxtral(HearsByWindows, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """375 tokens for each 30 seconds that have begun: sound is filled up with silence to whole windows."""

    name: ClassVar[str] = "voxtral"

    def sound(self, samples: int) -> MediaCost:
        """See Hears."""
        positions = max(STACKED, self.window_frames() // ENCODER_DOWNSAMPLING) * self.windows(samples)
        return MediaCost(positions // STACKED, WRAPPER_TOKENS, positions)
