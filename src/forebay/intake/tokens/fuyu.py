"""Fuyu. Source: transformers 5.24.0, fuyu/image_processing_fuyu.py and processing_fuyu.py."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

# The <s> that follows a picture.
WRAPPER_TOKENS = 1


class Fuyu(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One token per patch and one per row, of a picture shrunk to fit `max_width` x `max_height`."""

    name: ClassVar[str] = "fuyu"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_width": ("size.width",),
        "max_height": ("size.height",),
        "patch_size": ("patch_size.height", "patch_size"),
    }
    max_width: Positive = 1_920
    max_height: Positive = 1_080
    patch_size: Positive = 30

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules. A sliver that is shrunk to nothing, which transformers refuses, is priced at one patch across."""
        scale = min(self.max_height / height, self.max_width / width)
        if scale < 1:
            width, height = int(width * scale), int(height * scale)
        columns, rows = max(1, -(-width // self.patch_size)), max(1, -(-height // self.patch_size))
        return MediaCost(rows * (columns + 1), WRAPPER_TOKENS, rows * columns, exact=min(width, height) > 0)
