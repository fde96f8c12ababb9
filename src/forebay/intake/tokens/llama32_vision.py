"""Llama 3.2 Vision. Source: transformers 5.24.0, mllama/image_processing_mllama.py and modeling_mllama.py."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.canvas import canvas_tiles
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

# The <|image|> that stands for a picture in the sequence.
WRAPPER_TOKENS = 1


class Llama32Vision(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Pictures are attended to across, by layers of their own: they fill cross-attention KV, and one place in the sequence.

    Tiles of `tile_size` on the best canvas of up to `max_tiles`, each (560 / 14) squared patches and one for its class.
    The encoder always reads `max_tiles`, the missing ones as padding.
    """

    name: ClassVar[str] = "llama-3.2-vision"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tile_size": ("size.height",),
        "max_tiles": ("max_image_tiles",),
        "patch_size": ("vision_config.patch_size",),
    }
    tile_size: Positive = 560
    max_tiles: Positive = 4
    patch_size: Positive = 14

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        tiles = canvas_tiles(width, height, self.tile_size, self.max_tiles)
        patches = (self.tile_size // self.patch_size) ** 2 + 1
        return MediaCost(patches * tiles, WRAPPER_TOKENS, patches * self.max_tiles, cross_attended=True)
