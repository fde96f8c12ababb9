"""Idefics3 and SmolVLM. Source: transformers 5.24.0, idefics3/image_processing_idefics3.py and processing_idefics3.py."""

import math
from collections.abc import Mapping
from typing import ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

# transformers lets no side grow beyond it.
MAX_SIDE = 4_096
# Around the whole picture: a mark before it, one that says what it is, and one behind it.
WHOLE_MARKS = 3
# Before each tile: a mark, and one that tells its row and column. Each row ends in a line end.
TILE_MARKS = 2


class Idefics3(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every picture is scaled, up too, to `longest_edge`, cut into tiles of `tile_size`, and shown whole as one tile more.

    A picture of one tile is not shown twice. Tiles stretch to cover the picture, so that none is padded.
    """

    name: ClassVar[str] = "idefics3"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "longest_edge": ("size.longest_edge",),
        "tile_size": ("max_image_size.longest_edge",),
        "patch_size": ("vision_config.patch_size",),
        "tokens_per_tile": ("image_seq_len",),
        "splitting": ("do_image_splitting",),
    }
    longest_edge: Positive = 1_456
    tile_size: Positive = 364
    patch_size: Positive = 14
    tokens_per_tile: Positive = 169
    splitting: bool = True

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        columns, rows = self._grid(width, height) if self.splitting else (1, 1)
        tiles = rows * columns
        wrapper = WHOLE_MARKS
        if tiles > 1:
            wrapper += rows * (columns * TILE_MARKS + 1)
            tiles += 1
        patches = (self.tile_size // self.patch_size) ** 2
        return MediaCost(self.tokens_per_tile * tiles, wrapper, patches * tiles)

    def _grid(self, width: int, height: int) -> tuple[int, int]:
        if height > width:
            rows, columns = self._tiles(height, width)
        else:
            columns, rows = self._tiles(width, height)
        return columns, rows

    def _tiles(self, longer: int, shorter: int) -> tuple[int, int]:
        """Tiles along both sides. The rounding is that of transformers: the shorter side is even before it is stretched."""
        aspect = longer / shorter
        longer = self.longest_edge
        shorter = int(longer / aspect)
        shorter = max(1, shorter + shorter % 2)
        if longer > MAX_SIDE:
            longer, shorter = MAX_SIDE, max(1, int(MAX_SIDE / (longer / shorter)))
        many = math.ceil(longer / self.tile_size)
        stretched = int(many * self.tile_size / (longer / shorter))
        return many, max(1, math.ceil(stretched / self.tile_size))


class SmolVLM(Idefics3, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """SmolVLM and SmolVLM2 of 2.2 billion parameters."""

    name: ClassVar[str] = "smolvlm"
    longest_edge: Positive = 1_536
    tile_size: Positive = 384
    tokens_per_tile: Positive = 81


class SmolVLM500M(Idefics3, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """SmolVLM and SmolVLM2 of 256 and 500 million parameters, and the document readers made of them."""

    name: ClassVar[str] = "smolvlm-500m"
    longest_edge: Positive = 2_048
    tile_size: Positive = 512
    patch_size: Positive = 16
    tokens_per_tile: Positive = 64
