"""Gemma 4. Source: transformers 5.24.0, gemma4/image_processing_gemma4.py and processing_gemma4.py."""

import math
from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

# Start and end of image.
WRAPPER_TOKENS = 2


class Gemma4(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One token per cell of `patch_size * pooling_size` pixels, after a resize to the most cells up to `max_tokens`.

    The aspect is kept, so that small pictures are scaled up. `max_tokens` is one of 70, 140, 280, 560 and 1,120. The
    encoder reads every picture padded to that many cells, each of `pooling_size` squared patches.
    """

    name: ClassVar[str] = "gemma-4"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_tokens": ("max_soft_tokens", "image_seq_length"),
        "patch_size": ("patch_size",),
        "pooling_size": ("pooling_kernel_size",),
    }
    max_tokens: Positive = 280
    patch_size: Positive = 16
    pooling_size: Positive = 3

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules. A sliver that would be less than a cell across is cut into cells along its aspect."""
        patches = self.max_tokens * self.pooling_size**2
        cell = self.patch_size * self.pooling_size
        scale = math.sqrt(patches * self.patch_size**2 / (width * height))
        columns, rows = math.floor(scale * width / cell), math.floor(scale * height / cell)
        if columns == 0 or rows == 0:
            aspect = max(width, height) // min(width, height)
            return MediaCost(min(aspect, self.max_tokens), WRAPPER_TOKENS, patches)
        return MediaCost(columns * rows, WRAPPER_TOKENS, patches)
