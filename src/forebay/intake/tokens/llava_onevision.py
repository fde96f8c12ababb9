"""LLaVA-OneVision. Source: transformers 5.24.0, llava_onevision/processing_llava_onevision.py."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive
from forebay.intake.tokens.llava_next import Size, best_resolution, unpadded
from forebay.intake.tokens.sampling import SAMPLED_AT, AssumedClip, FrameSampling

_SIDES = range(384, 2_304 + 1, 384)
# How far the patch grid may pass its maximum before it is scaled down.
TOLERANCE = 1.1


class LlavaOneVision(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """As LLaVA-NeXT with tiles of 384 pixels, and a patch grid that is scaled down when it outgrows `vision_aspect_ratio`.

    `anyres_max_9` allows as many tokens as nine tiles have. A newline token ends each row of the grid. Each picture is
    priced as if alone in its prompt, which is how engines process them. Frames of a clip are one tile each, pooled two by
    two, and one newline token ends the clip; engines spread `num_frames` over it (32 is vLLM's default).
    """

    name: ClassVar[str] = "llava-onevision"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "grid_pinpoints": ("image_grid_pinpoints",),
        "tile_size": ("size.height", "size.shortest_edge"),
        "tokens_per_tile": ("num_image_tokens",),
        "vision_aspect_ratio": ("vision_aspect_ratio",),
    }
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = SAMPLED_AT
    # Its --media-io-kwargs, unless told otherwise: it knows no loader of this model's own.
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"vllm": {"sampling": {"num_frames": 32}}}
    grid_pinpoints: Annotated[tuple[Size, ...], msgspec.Meta(min_length=1)] = tuple(
        (height, width) for height in _SIDES for width in _SIDES
    )
    tile_size: Positive = 384
    tokens_per_tile: Positive = 729
    vision_aspect_ratio: Annotated[str, msgspec.Meta(pattern=r"^anyres_max_[1-9]\d{0,3}$")] = "anyres_max_9"
    sampling: FrameSampling = FrameSampling(num_frames=32)
    assumed_clip: AssumedClip = AssumedClip()

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        rows, columns = best_resolution(width, height, self.grid_pinpoints)
        tiles_high, tiles_wide = rows // self.tile_size, columns // self.tile_size
        side = math.isqrt(self.tokens_per_tile)
        grid = unpadded(width, height, side * tiles_high, side * tiles_wide)
        grid_height, grid_width = self._scaled(*grid, side)
        tokens = grid_height * grid_width + grid_height + self.tokens_per_tile
        return MediaCost(tokens, 0, self.tokens_per_tile * (1 + tiles_high * tiles_wide))

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost:
        """See Family. The size decides nothing."""
        clip = self.assumed_clip.fill(width, height, frames, duration_us)
        taken = self.sampling.count(clip.frames, clip.duration_us)
        pooled = math.ceil(math.isqrt(self.tokens_per_tile) / 2)
        return MediaCost(taken * pooled**2 + 1, 0, taken * self.tokens_per_tile, clip.known)

    def _scaled(self, grid_height: int, grid_width: int, side: int) -> Size:
        most = int(self.vision_aspect_ratio.removeprefix("anyres_max_")) * side**2
        ratio = math.sqrt(grid_height * grid_width / most)
        if ratio <= TOLERANCE:
            return grid_height, grid_width
        return int(grid_height // ratio), int(grid_width // ratio)
