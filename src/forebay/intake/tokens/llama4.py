"""Llama 4 Scout and Maverick. Source: transformers 5.24.0, llama4/image_processing_llama4.py and processing_llama4.py."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.canvas import canvas_tiles
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive, PositiveFloat

# Start of image, image, end of image.
WRAPPER_TOKENS = 3


class Llama4(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Tiles of `tile_size` on the best canvas of up to `max_tiles`, and the whole picture as one more when there are several.

    A tile is (336 / 14) squared patches, which `pixel_shuffle_ratio` makes a quarter as many tokens. Of several tiles,
    each is followed by a separator, which counts as wrapper.
    """

    name: ClassVar[str] = "llama-4"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tile_size": ("size.height",),
        "max_tiles": ("max_patches",),
        "patch_size": ("patch_size",),
        "pixel_shuffle_ratio": ("pixel_shuffle_ratio",),
        "resize_to_max_canvas": ("resize_to_max_canvas",),
    }
    tile_size: Positive = 336
    max_tiles: Positive = 16
    patch_size: Positive = 14
    pixel_shuffle_ratio: PositiveFloat = 0.5
    resize_to_max_canvas: bool = False

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        tiles = canvas_tiles(
            width,
            height,
            self.tile_size,
            self.max_tiles,
            single_precision=True,
            largest=self.resize_to_max_canvas,
        )
        separators = tiles if tiles > 1 else 0
        tiles += 1 if tiles > 1 else 0
        patches = (self.tile_size // self.patch_size) ** 2
        tokens = patches // round(1 / self.pixel_shuffle_ratio**2)
        return MediaCost(tokens * tiles, WRAPPER_TOKENS + separators, patches * tiles)
