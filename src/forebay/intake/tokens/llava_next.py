"""LLaVA-NeXT (1.6).

Sources: transformers 5.24.0, llava_next/processing_llava_next.py, image_processing_utils.py; llama.cpp,
tools/mtmd/mtmd-image.cpp.
"""

import functools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive

Size = tuple[int, int]


class LlavaNext(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One picture at base size, and its tiles at the best of `grid_pinpoints` (height, width), without the padding.

    Each row of tiles' patches ends in a newline token. Parameters are those of every published 1.6 checkpoint. With
    `keeps_padding`, as in llama.cpp, tiles count whole and rows have no ends, and a picture no larger than a tile has none.
    """

    name: ClassVar[str] = "llava-next"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "grid_pinpoints": ("image_grid_pinpoints",),
        "tile_size": ("crop_size.height", "size.shortest_edge"),
        "patch_size": ("patch_size",),
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"llama.cpp": {"keeps_padding": True}}

    grid_pinpoints: Annotated[tuple[Size, ...], msgspec.Meta(min_length=1)] = (
        (336, 672),
        (672, 336),
        (672, 672),
        (1008, 336),
        (336, 1008),
    )
    tile_size: Positive = 336
    patch_size: Positive = 14
    keeps_padding: bool = False

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        side = self.tile_size // self.patch_size
        if self.keeps_padding and max(width, height) <= self.tile_size:
            return MediaCost(side * side, 0, side * side)
        rows, columns = best_resolution(width, height, self.grid_pinpoints)
        tiles_high, tiles_wide = rows // self.tile_size, columns // self.tile_size
        if self.keeps_padding:
            patches = side * side * (1 + tiles_high * tiles_wide)
            return MediaCost(patches, 0, patches)
        grid_height, grid_width = unpadded(width, height, side * tiles_high, side * tiles_wide)
        tokens = grid_height * grid_width + grid_height + side * side
        return MediaCost(tokens, 0, side * side * (1 + tiles_high * tiles_wide))


@functools.lru_cache(maxsize=16)
def pinpoints(tile_size: int, side: int) -> tuple[Size, ...]:
    """The (height, width) of all grids of up to `side` tiles each way, but for a single tile. In llama.cpp's order."""
    counts = range(1, side + 1)
    return tuple(
        (rows * tile_size, columns * tile_size) for columns in counts for rows in counts if rows * columns > 1
    )


def best_resolution(width: int, height: int, candidates: tuple[Size, ...]) -> Size:
    """The (height, width) that keeps most pixels of the picture, then wastes least, then stands first."""
    best, most, least_waste = candidates[0], -1, 0
    for rows, columns in candidates:
        scale = min(columns / width, rows / height)
        kept = min(int(width * scale) * int(height * scale), width * height)
        waste = rows * columns - kept
        if kept > most or (kept == most and waste < least_waste):
            best, most, least_waste = (rows, columns), kept, waste
    return best


def unpadded(width: int, height: int, grid_height: int, grid_width: int) -> Size:
    """The patch grid without the rows or columns that only pad the picture to the tiles' aspect."""
    if width / height > grid_width / grid_height:
        filled = int(round(height * (grid_width / width), 7))
        return grid_height - (grid_height - filled) // 2 * 2, grid_width
    filled = int(round(width * (grid_height / height), 7))
    return grid_height, grid_width - (grid_width - filled) // 2 * 2
