"""Qwen2-Audio. Source: transformers 5.24.0, qwen2_audio/processing_qwen2_audio.py over Whisper's feature extractor."""

from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat, Rules
from forebay.intake.tokens.sound import Hears, halved_twice

# audio_bos and audio_eos, which the chat template writes around the placeholders.
WRAPPER_TOKENS = 2


class Qwen2Audio(Hears, Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """25 tokens a second: mel frames of 10 ms, halved by a convolution and halved again by pooling.

    Sound beyond `window_seconds` is cut off, as the feature extractor does; the encoder reads a whole window always.
    `pads_to_window` is llama.cpp's way: it cuts nothing, starts a new window one hop before the last is full, and makes
    tokens of the padding too.
    """

    name: ClassVar[str] = "qwen2-audio"
    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "window_seconds": ("chunk_length",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"llama.cpp": {"pads_to_window": True}}

    window_seconds: Positive = 30
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    pads_to_window: bool = False
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears. Sound shorter than three mel frames makes no token there; it is priced at one, and not exact."""
        window = max(1, self.window_seconds * self.sampling_rate // self.hop_length)
        positions = (window - 1) // 2 + 1
        if self.pads_to_window:
            windows = (samples + self.hop_length) // (window * self.hop_length) + 1
            return MediaCost(halved_twice(window) * windows, WRAPPER_TOKENS, positions * windows)
        tokens = halved_twice(min(window, -(-samples // self.hop_length)))
        return MediaCost(max(1, tokens), WRAPPER_TOKENS, positions, tokens > 0)
