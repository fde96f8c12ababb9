"""Qwen2.5-Omni and Qwen3-Omni. Source: transformers 5.24.0, qwen2_5_omni/ and qwen3_omni_moe/processing_*.py.

Pictures and clips go through Qwen2-VL's processors. A clip is priced without its sound, which engines add only when a
request asks for it (`use_audio_in_video`).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat
from forebay.intake.tokens.qwen2_vl import Qwen2VL
from forebay.intake.tokens.qwen3_vl import Qwen3VL
from forebay.intake.tokens.sampling import SAMPLED_AT
from forebay.intake.tokens.sound import Hears, halved_twice

# audio_bos and audio_eos, which the chat template writes around the placeholders.
WRAPPER_TOKENS = 2
# Tokens of one full window of Qwen3-Omni's encoder: 100 mel frames through three convolutions of stride 2.
WINDOW_TOKENS = 13
# transformers refuses sound of so many samples and fewer: its Fourier transform reflects them at both ends.
REFLECTED_SAMPLES = 200


class Qwen25Omni(Hears, Qwen2VL, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sound as Qwen2-Audio's, up to 300 seconds; beyond, the feature extractor cuts it off."""

    name: ClassVar[str] = "qwen2.5-omni"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO | Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Qwen2VL.configured_at,
        "window_seconds": ("chunk_length",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    # The size of clips is the processor's own; it does not look at their configuration.
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = SAMPLED_AT
    video_min_pixels: Positive | None = 128 * 28 * 28
    video_max_pixels: Positive | None = 768 * 28 * 28
    window_seconds: Positive = 300
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears. Sound shorter than three mel frames makes no token there; it is priced at one, and not exact."""
        window = max(1, self.window_seconds * self.sampling_rate // self.hop_length)
        frames = min(window, -(-samples // self.hop_length))
        tokens = halved_twice(frames)
        return MediaCost(max(1, tokens), WRAPPER_TOKENS, (frames - 1) // 2 + 1, tokens > 0)


class Qwen3Omni(Hears, Qwen2VL, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """13 tokens for each full second of sound, and the rest through the same three convolutions. Cells are 32x32.

    `pads_to_hop` fills the last mel frame up with silence, as vLLM does; transformers drops it.
    """

    name: ClassVar[str] = "qwen3-omni"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO | Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Qwen2VL.configured_at,
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    # The size of clips is the processor's own; it does not look at their configuration.
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = SAMPLED_AT
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "vllm": {"pads_to_hop": True},
        "llama.cpp": Qwen3VL.engine_settings["llama.cpp"],
    }
    patch_size: Positive = 16
    video_min_pixels: Positive | None = 128 * 32 * 32
    video_max_pixels: Positive | None = 768 * 32 * 32
    window_frames: Positive = 100
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    pads_to_hop: bool = False
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears. Sound that is too short for transformers costs one token, and is not exact."""
        frames = -(-samples // self.hop_length) if self.pads_to_hop else samples // self.hop_length
        windows, rest = divmod(frames, self.window_frames)
        for _ in range(3):
            rest = (rest - 1) // 2 + 1
        tokens = windows * WINDOW_TOKENS + rest
        return MediaCost(max(1, tokens), WRAPPER_TOKENS, max(1, tokens), samples > REFLECTED_SAMPLES)
