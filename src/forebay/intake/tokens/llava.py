"""LLaVA-1.5. Source: transformers 5.24.0, llava/processing_llava.py: a fixed grid, whatever the picture."""

from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive


class Llava15(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """(`image_size` / `patch_size`) squared: 576 for the CLIP ViT-L/14 at 336 pixels of every published checkpoint."""

    name: ClassVar[str] = "llava-1.5"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "image_size": ("crop_size.height", "size.shortest_edge"),
        "patch_size": ("patch_size",),
    }
    image_size: Positive = 336
    patch_size: Positive = 14

    def image(self, width: int, height: int, frames: int = 1, orientation: int = 1) -> MediaCost:  # noqa: ARG002  the price knows no size
        """Exact even when the size is unknown; see Family."""
        one = self.picture(width, height)
        taken = min(max(1, frames), self.animation_frames)
        return MediaCost(one.tokens * taken, 0, one.encoder_patches * taken)

    def picture(self, width: int, height: int) -> MediaCost:  # noqa: ARG002  the price knows no size
        """See ImageRules."""
        tokens = (self.image_size // self.patch_size) ** 2
        return MediaCost(tokens, 0, tokens)
