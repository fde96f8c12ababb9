"""Qwen2-Audio. Source: transformers 5.24.0, qwen2_audio/processing_qwen2_audio.py over Whisper's feature extractor."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MICROSECONDS, MediaCost, Positive, PositiveFloat, Rules

# audio_bos and audio_eos, which the chat template writes around the placeholders.
WRAPPER_TOKENS = 2


class Qwen2Audio(Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """25 tokens a second: mel frames of 10 ms, halved by a convolution and halved again by pooling.

    Sound beyond `window_seconds` is cut off, as the feature extractor does; the encoder reads a whole window always.
    `pads_to_window` is for llama.cpp, which makes tokens of the padding too.
    """

    name: ClassVar[str] = "qwen2-audio"
    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "window_seconds": ("chunk_length",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    window_seconds: Positive = 30
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    pads_to_window: bool = False
    assumed_seconds: PositiveFloat = 30.0

    def audio(self, duration_us: int) -> MediaCost:
        """See Family. Sound shorter than three mel frames makes no token there; it is priced at one, and not exact."""
        length_us = duration_us if duration_us > 0 else int(self.assumed_seconds * MICROSECONDS)
        window = self.window_seconds * self.sampling_rate // self.hop_length
        samples = -(-length_us * self.sampling_rate // MICROSECONDS)
        mel_frames = window if self.pads_to_window else min(window, -(-samples // self.hop_length))
        tokens = _halved_twice(mel_frames)
        exact = duration_us > 0 and tokens > 0
        return MediaCost(max(1, tokens), WRAPPER_TOKENS, (window - 1) // 2 + 1, exact)


def _halved_twice(mel_frames: int) -> int:
    return ((mel_frames - 1) // 2 + 1 - 2) // 2 + 1
