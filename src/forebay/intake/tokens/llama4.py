"""Llama 4 Scout and Maverick.

Sources: transformers 5.24.0, llama4/image_processing_llama4.py and processing_llama4.py; llama.cpp, tools/mtmd/clip.cpp and
mtmd-image.cpp.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.intake.tokens.canvas import canvas_tiles
from forebay.intake.tokens.family import Count, ImageRules, MediaCost, Positive, PositiveFloat
from forebay.intake.tokens.llava_next import best_resolution, pinpoints


class Llama4(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Tiles of `tile_size` on the best canvas of up to `max_tiles`, and the whole picture as one more when there are several.

    A tile is (336 / 14) squared patches, which `pixel_shuffle_ratio` makes a quarter as many tokens. Of several tiles,
    each is followed by a separator, which counts as wrapper, beside the `wrapper_tokens` that start, tell and end it.

    With `grid_side`, as in llama.cpp, the canvas is the best of up to so many tiles a side by LLaVA-NeXT's rule, and there
    are no separators.
    """

    name: ClassVar[str] = "llama-4"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tile_size": ("size.height",),
        "max_tiles": ("max_patches",),
        "patch_size": ("patch_size",),
        "pixel_shuffle_ratio": ("pixel_shuffle_ratio",),
        "resize_to_max_canvas": ("resize_to_max_canvas",),
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "llama.cpp": {"grid_side": 3, "wrapper_tokens": 2}
    }

    tile_size: Positive = 336
    max_tiles: Positive = 16
    patch_size: Positive = 14
    pixel_shuffle_ratio: PositiveFloat = 0.5
    resize_to_max_canvas: bool = False
    wrapper_tokens: Count = 3
    grid_side: Positive | None = None

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        tiles = self._tiles(width, height)
        separators = tiles if tiles > 1 and self.grid_side is None else 0
        tiles += 1 if tiles > 1 else 0
        patches = (self.tile_size // self.patch_size) ** 2
        tokens = patches // round(1 / self.pixel_shuffle_ratio**2)
        return MediaCost(tokens * tiles, self.wrapper_tokens + separators, patches * tiles)

    def _tiles(self, width: int, height: int) -> int:
        if self.grid_side is None:
            return canvas_tiles(
                width,
                height,
                self.tile_size,
                self.max_tiles,
                single_precision=True,
                largest=self.resize_to_max_canvas,
            )
        if max(width, height) <= self.tile_size:
            return 1
        rows, columns = best_resolution(width, height, pinpoints(self.tile_size, self.grid_side))
        return rows * columns // self.tile_size**2
