"""Phi-4-multimodal. Source: transformers 5.24.0, phi4_multimodal/image_processing_phi4_multimodal.py."""

import math
from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive
from forebay.intake.tokens.internvl import closest_grid

# The whole picture in one crop: 16 x 16 tokens and as many row ends. One token parts it from the crops.
WHOLE_TOKENS = 16 * 16 + 16
SEPARATOR_TOKENS = 1
# Sides in pixels under which transformers refuses a picture after its resize.
LEAST_SIDE = 10


class Phi4Multimodal(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Crops of `crop_size` that cover a picture, or the grid of closest aspect when that takes more than `max_crops`.

    The picture is scaled to fit, and what only pads it makes no tokens. Patches are halved each way, and each row ends
    in one token.
    """

    name: ClassVar[str] = "phi-4-multimodal"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "crop_size": ("size.height",),
        "patch_size": ("patch_size",),
        "max_crops": ("dynamic_hd",),
    }
    crop_size: Positive = 448
    patch_size: Positive = 14
    max_crops: Positive = 36

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        columns, rows = self._grid(width, height)
        scale_wide, scale_high = columns * self.crop_size / width, rows * self.crop_size / height
        filled_width, filled_height = columns * self.crop_size, rows * self.crop_size
        if scale_wide < scale_high:
            filled_height = int(height * scale_wide)
        else:
            filled_width = int(width * scale_high)
        wide = self._kept(columns * self.crop_size, filled_width)
        high = self._kept(rows * self.crop_size, filled_height)
        tokens = WHOLE_TOKENS + SEPARATOR_TOKENS + high * wide + high
        patches = (1 + rows * columns) * (self.crop_size // self.patch_size) ** 2
        return MediaCost(tokens, 0, patches, exact=min(filled_width, filled_height) >= LEAST_SIDE)

    def _grid(self, width: int, height: int) -> tuple[int, int]:
        columns, rows = math.ceil(width / self.crop_size), math.ceil(height / self.crop_size)
        if columns * rows <= self.max_crops:
            return columns, rows
        return closest_grid(width, height, self.crop_size, 1, self.max_crops)

    def _kept(self, side: int, filled: int) -> int:
        """Tokens along a side: every second patch of those that are not padding alone, the first included."""
        return max(1, -(-(side // self.patch_size - (side - filled) // self.patch_size) // 2))
