"""Phi-3-vision and Phi-3.5-vision.

Source: image_processing_phi3_v.py in the repositories of both models (`HD_transform`, `num_img_tokens`).
"""

import math
from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

# Pixels of a crop, its patches, and the tokens that they become, two by two. None of them is configured there.
CROP_SIZE = 336
CROP_PATCHES, CROP_TOKENS = 24 * 24, 12 * 12
# A row of crops has twelve rows of tokens, each with a row end, as has the whole picture.
ROW_ENDS = 12


class Phi3Vision(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Scaled, up too, to as many crops of 336 pixels as `max_crops` allow, and shown whole as one crop more.

    One token parts the two. The encoder always reads `max_crops` and the whole, the missing ones as padding.
    """

    name: ClassVar[str] = "phi-3-vision"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {"max_crops": ("num_crops",)}
    max_crops: Positive = 16

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules. A sliver that is shrunk to nothing, which fails there, is priced at one crop across."""
        ratio = max(width, height) / min(width, height)
        longer = 1
        while (longer + 1) * math.ceil((longer + 1) / ratio) <= self.max_crops:
            longer += 1
        filled = int(longer * CROP_SIZE / ratio)
        shorter = max(1, -(-filled // CROP_SIZE))
        rows = longer if height > width else shorter
        tokens = (longer * shorter + 1) * CROP_TOKENS + 1 + (rows + 1) * ROW_ENDS
        return MediaCost(tokens, 0, (self.max_crops + 1) * CROP_PATCHES, exact=filled > 0)


class Phi35Vision(Phi3Vision, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Phi-3.5-vision, whose configuration says 4 crops; its authors recommend 16 for single pictures."""

    name: ClassVar[str] = "phi-3.5-vision"
    max_crops: Positive = 4
