"""Phi-4-multimodal. Source: transformers 5.24.0, phi4_multimodal/image_processing_ and feature_extraction_*.py."""

import math
from collections.abc import Mapping
from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive, PositiveFloat
from forebay.intake.tokens.internvl import closest_grid
from forebay.intake.tokens.sound import Hears

# The whole picture in one crop: 16 x 16 tokens and as many row ends. One token parts it from the crops.
WHOLE_TOKENS = 16 * 16 + 16
SEPARATOR_TOKENS = 1
# Sides in pixels under which transformers refuses a picture after its resize.
LEAST_SIDE = 10


class Phi4Multimodal(Hears, ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Crops of `crop_size` that cover a picture, or the grid of closest aspect when that takes more than `max_crops`.

    The picture is scaled to fit, and what only pads it makes no tokens. Patches are halved each way, and each row ends
    in one token. Sound makes 12.5 tokens a second: mel frames of 10 ms, of which `audio_compression_rate` make a token.
    """

    name: ClassVar[str] = "phi-4-multimodal"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "crop_size": ("size.height",),
        "patch_size": ("patch_size",),
        "max_crops": ("dynamic_hd",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
        "fourier_window": ("win_length",),
        "audio_compression_rate": ("audio_compression_rate",),
        "audio_downsample_rate": ("audio_downsample_rate",),
    }
    crop_size: Positive = 448
    patch_size: Positive = 14
    max_crops: Positive = 36
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    fourier_window: Positive = 400
    audio_compression_rate: Positive = 8
    audio_downsample_rate: Positive = 1
    assumed_seconds: PositiveFloat = 30.0

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

    def sound(self, samples: int) -> MediaCost:
        """See Hears. Sound shorter than `fourier_window` samples is refused there; one token, and not exact."""
        frames = (samples - self.fourier_window) // self.hop_length + 1
        compressed = -(-frames // self.audio_compression_rate)
        tokens = max(1, -(-compressed // self.audio_downsample_rate))
        return MediaCost(tokens, 0, max(1, compressed), frames > 0)

    def _grid(self, width: int, height: int) -> tuple[int, int]:
        columns, rows = math.ceil(width / self.crop_size), math.ceil(height / self.crop_size)
        if columns * rows <= self.max_crops:
            return columns, rows
        return closest_grid(width, height, self.crop_size, 1, self.max_crops)

    def _kept(self, side: int, filled: int) -> int:
        """Tokens along a side: every second patch of those that are not padding alone, the first included."""
        return max(1, -(-(side // self.patch_size - (side - filled) // self.patch_size) // 2))
