"""Ultravox. Not in transformers: the formula is `ultravox_processing.py`, published with the checkpoints (fixie-ai, v0.5)."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat, Rules
from forebay.intake.tokens.sound import Hears

# Whisper's first convolutions halve the mel frames.
ENCODER_DOWNSAMPLING = 2
# Shorter sound is filled up with silence to so many frames.
LEAST_FRAMES = 2


class Ultravox(Hears, Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """6.25 tokens a second: mel frames of 10 ms, halved by Whisper's encoder and stacked by `stack_factor`.

    Sound longer than `context_frames` is encoded in pieces of that length, and each piece rounds up.
    """

    name: ClassVar[str] = "ultravox"
    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "stack_factor": ("stack_factor",),
        "context_frames": ("audio_context_size",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    stack_factor: Positive = 8
    context_frames: Positive = 3_000
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears."""
        frames = max(LEAST_FRAMES, -(-samples // self.hop_length))
        pieces, rest = divmod(frames, self.context_frames)
        tokens = pieces * self._tokens(self.context_frames) + self._tokens(rest)
        return MediaCost(tokens, 0, -(-frames // ENCODER_DOWNSAMPLING))

    def _tokens(self, frames: int) -> int:
        return -(-frames // (ENCODER_DOWNSAMPLING * self.stack_factor))
