"""Qwen2-VL and Qwen2.5-VL. Source: transformers 5.24.0, qwen2_vl/image_processing_ and video_processing_qwen2_vl.py."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive
from forebay.intake.tokens.sampling import SAMPLED_AT, AssumedClip, FrameSampling
from forebay.intake.tokens.smart_resize import Resizer, smart_resize, within_aspect

# vision_start and vision_end, which the chat template writes around the placeholders.
WRAPPER_TOKENS = 2


class Qwen2VL(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Tokens = cells of `patch_size * merge_size` pixels after the resize.

    `min_pixels` and `max_pixels` are those of the published checkpoints (4 and 16,384 cells of 28x28); the class
    default of transformers caps at 1,280 cells. Clips: each frame within `video_min_pixels` and `video_max_pixels`,
    and `temporal_patch_size` frames make one layer of tokens. Unset, those two are the pictures' own bounds, since
    the published checkpoints have one preprocessor configuration for both (the class defaults are 128 and 768 cells).
    `cap_pixels_per_frame` shares 90 % of `max_video_tokens` out among the frames, as qwen-vl-utils does. `float_steps`:
    transformers and vLLM walk over the frames by a float, which takes one more at times; SGLang does not. (vLLM takes frames
    by rate since it knows this model's processor; releases before that took 32 of any clip.)
    """

    name: ClassVar[str] = "qwen2-vl"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "min_pixels": ("min_pixels", "size.shortest_edge", "size.min_pixels"),
        "max_pixels": ("max_pixels", "size.longest_edge", "size.max_pixels"),
        "patch_size": ("patch_size",),
        "merge_size": ("merge_size",),
        "temporal_patch_size": ("temporal_patch_size",),
    }
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "video_min_pixels": ("min_pixels", "size.shortest_edge"),
        "video_max_pixels": ("max_pixels", "size.longest_edge"),
        "cap_pixels_per_frame": ("cap_pixels_per_frame",),
        "max_video_tokens": ("max_video_tokens",),
        **SAMPLED_AT,
    }

    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        # Resizes clips as qwen-vl-utils does, before transformers finds nothing more to do.
        "sglang": {
            "video_min_pixels": 128 * 28 * 28,
            "video_max_pixels": 768 * 28 * 28,
            "cap_pixels_per_frame": True,
            "float_steps": False,
        },
        # From 8 to 4,096 cells, whatever the model's files say.
        "llama.cpp": {"resizer": "llama.cpp", "min_pixels": 8 * 28 * 28, "max_pixels": 4_096 * 28 * 28},
    }

    min_pixels: Positive = 4 * 28 * 28
    max_pixels: Positive = 16_384 * 28 * 28
    patch_size: Positive = 14
    merge_size: Positive = 2
    temporal_patch_size: Positive = 2
    video_min_pixels: Positive | None = None
    video_max_pixels: Positive | None = None
    cap_pixels_per_frame: bool = False
    max_video_tokens: Positive = 128_000
    float_steps: bool = True
    sampling: FrameSampling = FrameSampling()
    assumed_clip: AssumedClip = AssumedClip()
    resizer: Resizer = "transformers"

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        cells = self._cells(width, height, self.min_pixels, self.max_pixels)
        return MediaCost(cells, WRAPPER_TOKENS, cells * self.merge_size**2, self._accepts(width, height))

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost:
        """See Family."""
        width, height, frames, duration_us, known = self.assumed_clip.fill(width, height, frames, duration_us)
        taken = self.sampling.count(frames, duration_us, self.temporal_patch_size)
        if self.float_steps:
            taken = math.ceil(frames / (frames / taken))
        cells = self._cells(width, height, self.video_min_pixels or self.min_pixels, self._frame_cap(taken))
        tokens = -(-taken // self.temporal_patch_size) * cells
        exact = known and self._accepts(width, height) and frames >= self.temporal_patch_size
        return MediaCost(tokens, WRAPPER_TOKENS, tokens * self.merge_size**2, exact)

    def _cells(self, width: int, height: int, min_pixels: int, max_pixels: int) -> int:
        cell = self.patch_size * self.merge_size
        new_width, new_height = smart_resize(width, height, cell, min_pixels, max_pixels, self.resizer)
        return new_width // cell * (new_height // cell)

    def _accepts(self, width: int, height: int) -> bool:
        return self.resizer == "llama.cpp" or within_aspect(width, height)

    def _frame_cap(self, frames: int) -> int:
        most = self.video_max_pixels or self.max_pixels
        if not self.cap_pixels_per_frame:
            return most
        total = int(self.max_video_tokens * (self.patch_size * self.merge_size) ** 2 * 0.9)
        share = total * self.temporal_patch_size // frames
        return max(min(most, share), int((self.video_min_pixels or self.min_pixels) * 1.05))
