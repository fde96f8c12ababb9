"""Gemma 3. Source: transformers 5.24.0, gemma3/image_processing_gemma3.py and processing_gemma3.py."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.intake.tokens.family import Count, ImageRules, MediaCost, Positive, PositiveFloat

# "Here is the original image " and " and here are some crops to help you see better ", by Gemma's own tokenizer about.
CROP_TEXT_TOKENS = 17


class Gemma3(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """256 tokens a picture. With pan and scan, which servers leave off by default, as much again per crop.

    `wrapper_tokens` are two line ends, start and end of image: four per picture or crop. Crops stand in a sentence
    whose tokens depend on its surroundings, so that a cropped picture is not exact. The three bounds of pan and scan
    are those that the model card names.
    """

    name: ClassVar[str] = "gemma-3"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tokens_per_picture": ("image_seq_length",),
        "image_size": ("size.height",),
        "pan_and_scan": ("do_pan_and_scan",),
        "min_crop_side": ("pan_and_scan_min_crop_size",),
        "max_crops": ("pan_and_scan_max_num_crops",),
        "min_crop_aspect": ("pan_and_scan_min_ratio_to_activate",),
    }
    # llama.cpp writes the marks of the image, and no line ends.
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"llama.cpp": {"wrapper_tokens": 2}}

    tokens_per_picture: Positive = 256
    wrapper_tokens: Count = 4
    image_size: Positive = 896
    patch_size: Positive = 14
    pan_and_scan: bool = False
    min_crop_side: Positive = 256
    max_crops: Positive = 4
    min_crop_aspect: PositiveFloat = 1.2

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        crops = self.crops(width, height) if self.pan_and_scan else 0
        pictures = 1 + crops
        wrapper = self.wrapper_tokens * pictures + (CROP_TEXT_TOKENS + crops - 1 if crops else 0)
        patches = (self.image_size // self.patch_size) ** 2
        return MediaCost(self.tokens_per_picture * pictures, wrapper, patches * pictures, exact=crops == 0)

    def crops(self, width: int, height: int) -> int:
        """Crops along the longer side; 0 for a picture too square or too small."""
        longer, shorter = max(width, height), min(width, height)
        if longer / shorter < self.min_crop_aspect:
            return 0
        wanted = min(longer // self.min_crop_side, math.floor(longer / shorter + 0.5))
        crops = min(self.max_crops, max(2, wanted))
        return 0 if min(math.ceil(longer / crops), shorter) < self.min_crop_side else crops
