"""Qwen3-VL. Source: transformers 5.24.0, qwen3_vl/video_processing_ and processing_qwen3_vl.py; images as Qwen2-VL."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MICROSECONDS, ImageRules, MediaCost, Positive
from forebay.intake.tokens.sampling import SAMPLED_AT, AssumedClip, FrameSampling
from forebay.intake.tokens.smart_resize import Resizer, resize_volume, smart_resize, within_aspect

# vision_start and vision_end, around a picture and around each layer of a clip.
WRAPPER_TOKENS = 2
# "<12.3 seconds>" before each layer: `<`, `.`, one decimal, ` seconds` and `>` beside one token per whole digit.
TIMESTAMP_TOKENS = 5


class Qwen3VL(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """As Qwen2-VL with cells of 32x32, and clips whose bounds hold for all frames together.

    Pixel bounds are those of the published checkpoints. `cap_pixels_per_frame` limits each frame to
    `max_video_tokens` cells, as qwen-vl-utils does; transformers warns that it will become the default there.
    """

    name: ClassVar[str] = "qwen3-vl"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "min_pixels": ("min_pixels", "size.shortest_edge"),
        "max_pixels": ("max_pixels", "size.longest_edge"),
        "patch_size": ("patch_size",),
        "merge_size": ("merge_size",),
        "temporal_patch_size": ("temporal_patch_size",),
    }
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "video_min_pixels": ("size.shortest_edge",),
        "video_max_pixels": ("size.longest_edge",),
        "cap_pixels_per_frame": ("cap_pixels_per_frame",),
        "max_video_tokens": ("max_video_tokens",),
        **SAMPLED_AT,
    }

    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        # From 8 to 4,096 cells, whatever the model's files say.
        "llama.cpp": {"resizer": "llama.cpp", "min_pixels": 8 * 32 * 32, "max_pixels": 4_096 * 32 * 32}
    }

    min_pixels: Positive = 65_536
    max_pixels: Positive = 16_777_216
    patch_size: Positive = 16
    merge_size: Positive = 2
    temporal_patch_size: Positive = 2
    video_min_pixels: Positive = 4_096
    video_max_pixels: Positive = 25_165_824
    cap_pixels_per_frame: bool = False
    max_video_tokens: Positive = 768
    sampling: FrameSampling = FrameSampling()
    assumed_clip: AssumedClip = AssumedClip()
    resizer: Resizer = "transformers"

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        cell = self.patch_size * self.merge_size
        new_width, new_height = smart_resize(
            width, height, cell, self.min_pixels, self.max_pixels, self.resizer
        )
        cells = new_width // cell * (new_height // cell)
        exact = self.resizer == "llama.cpp" or within_aspect(width, height)
        return MediaCost(cells, WRAPPER_TOKENS, cells * self.merge_size**2, exact)

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost:
        """See Family. The time stamps before each layer count as wrapper tokens."""
        width, height, frames, duration_us, known = self.assumed_clip.fill(width, height, frames, duration_us)
        taken = self.sampling.count(frames, duration_us)
        cells = self._frame_cells(width, height, taken)
        layers = -(-taken // self.temporal_patch_size)
        digits = _timestamp_digits(frames, taken, duration_us, self.temporal_patch_size)
        wrapper = layers * (WRAPPER_TOKENS + TIMESTAMP_TOKENS) + digits
        exact = known and within_aspect(width, height) and taken >= self.temporal_patch_size
        return MediaCost(layers * cells, wrapper, layers * cells * self.merge_size**2, exact)

    def _frame_cells(self, width: int, height: int, frames: int) -> int:
        cell = self.patch_size * self.merge_size
        if min(width, height) < cell:
            grow = max(cell / height, cell / width)
            width, height = max(1, int(width * grow)), max(1, int(height * grow))
        new_width, new_height = resize_volume(
            frames,
            width,
            height,
            cell,
            self.video_min_pixels,
            self._volume_cap(frames),
            self.temporal_patch_size,
        )
        return new_width // cell * (new_height // cell)

    def _volume_cap(self, frames: int) -> int:
        if not self.cap_pixels_per_frame:
            return self.video_max_pixels
        cap = self.max_video_tokens * (self.patch_size * self.merge_size) ** 2
        share = min(cap, self.video_max_pixels // frames)
        return max(share, int(self.video_min_pixels * 1.05)) * frames


def _timestamp_digits(frames: int, taken: int, duration_us: int, layer_frames: int) -> int:
    """Digits of the whole seconds in the time stamps of all layers. A layer's time is midway of its first and last frame."""
    indices = np.linspace(0, frames - 1, taken).round()
    firsts = indices[::layer_frames]
    lasts = np.append(indices[layer_frames - 1 :: layer_frames], indices[-1:])[: len(firsts)]
    seconds = (firsts + lasts) * (duration_us / frames / 2 / MICROSECONDS)
    return sum(len(f"{moment:.1f}") - 2 for moment in seconds.tolist())
