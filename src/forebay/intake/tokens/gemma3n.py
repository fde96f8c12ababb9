"""Gemma 3n. Source: transformers 5.24.0, gemma3n/processing_gemma3n.py: fixed prices, whatever the size or the length."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

# Two line ends, start and end of the picture or sound.
WRAPPER_TOKENS = 4
# The encoder of sounds reads positions that are then taken four by four.
POSITIONS_PER_TOKEN = 4


class Gemma3n(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """256 tokens a picture, and 188 a sound, which is padded or cut to 30 seconds.

    Its encoder of pictures has no patches. What it reads is counted as what it gives.
    """

    name: ClassVar[str] = "gemma-3n"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tokens_per_picture": ("image_seq_length",),
        "tokens_per_sound": ("audio_seq_length",),
    }
    tokens_per_picture: Positive = 256
    tokens_per_sound: Positive = 188

    def picture(self, width: int, height: int) -> MediaCost:  # noqa: ARG002  the price knows no size
        """See ImageRules."""
        return MediaCost(self.tokens_per_picture, WRAPPER_TOKENS, self.tokens_per_picture)

    def audio(self, duration_us: int) -> MediaCost:
        """See Family."""
        positions = self.tokens_per_sound * POSITIONS_PER_TOKEN
        return MediaCost(self.tokens_per_sound, WRAPPER_TOKENS, positions, exact=duration_us > 0)
