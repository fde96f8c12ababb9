"""InternVL 2, 2.5 and 3.

Sources: transformers 5.24.0, got_ocr2/image_processing_got_ocr2.py, processing_internvl.py; llama.cpp,
tools/mtmd/mtmd-image.cpp.
"""

import functools
from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive
from forebay.intake.tokens.llava_next import Size, best_resolution
from forebay.intake.tokens.sampling import SAMPLED_AT, AssumedClip, FrameSampling

# <img> and </img>, around a picture and around each frame of a clip.
WRAPPER_TOKENS = 2
# "Frame7: " before each frame and a line end behind it, beside one token per digit.
FRAME_LABEL_TOKENS = 4


class InternVL(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Tiles of `tile_size` in the grid whose aspect is closest, with a thumbnail when there is more than one.

    A tile gives `tokens_per_tile` = (448 / 14 / 2) squared. `max_tiles` is 12 in every published checkpoint. Clips are
    one tile a frame; engines spread `num_frames` over the clip (32 is vLLM's default). With `keeps_pixels`, as in
    llama.cpp, the grid is chosen by LLaVA-NeXT's rule, and a picture no larger than a tile is one.
    """

    name: ClassVar[str] = "internvl"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tile_size": ("force_image_size", "size.height"),
        "min_tiles": ("min_patches", "min_dynamic_patch"),
        "max_tiles": ("max_patches", "max_dynamic_patch"),
        "thumbnail": ("use_thumbnail",),
        "tokens_per_tile": ("image_seq_length",),
    }
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = SAMPLED_AT
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        # Its --media-io-kwargs, unless told otherwise: it knows no loader of this model's own.
        "vllm": {"sampling": {"num_frames": 32}},
        "llama.cpp": {"keeps_pixels": True},
    }
    tile_size: Positive = 448
    patch_size: Positive = 14
    tokens_per_tile: Positive = 256
    min_tiles: Positive = 1
    max_tiles: Positive = 12
    thumbnail: bool = True
    keeps_pixels: bool = False
    sampling: FrameSampling = FrameSampling(num_frames=32)
    assumed_clip: AssumedClip = AssumedClip()

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        tiles = self._kept_tiles(width, height) if self.keeps_pixels else self._closest_tiles(width, height)
        return MediaCost(self.tokens_per_tile * tiles, WRAPPER_TOKENS, self._patches(tiles))

    def _closest_tiles(self, width: int, height: int) -> int:
        columns, rows = closest_grid(width, height, self.tile_size, self.min_tiles, self.max_tiles)
        tiles = columns * rows
        return tiles + 1 if self.thumbnail and tiles > 1 else tiles

    def _kept_tiles(self, width: int, height: int) -> int:
        if max(width, height) <= self.tile_size:
            return 1
        candidates = _resolutions(self.tile_size, self.min_tiles, self.max_tiles)
        rows, columns = best_resolution(width, height, candidates)
        return rows * columns // self.tile_size**2 + 1

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost:
        """See Family. Not exact, since the frames' labels are text, which each tokenizer cuts its own way."""
        clip = self.assumed_clip.fill(width, height, frames, duration_us)
        taken = self.sampling.count(clip.frames, clip.duration_us)
        labels = sum(FRAME_LABEL_TOKENS + len(str(index)) for index in range(1, taken + 1)) - 1
        wrapper = WRAPPER_TOKENS * taken + labels
        return MediaCost(self.tokens_per_tile * taken, wrapper, self._patches(taken), exact=False)

    def _patches(self, tiles: int) -> int:
        return tiles * (self.tile_size // self.patch_size) ** 2


@functools.lru_cache(maxsize=16)
def _grids(min_tiles: int, max_tiles: int) -> tuple[tuple[int, int], ...]:
    """All (columns, rows) within the bounds, least area first, and then by columns."""
    grids = [
        (columns, rows)
        for columns in range(1, max_tiles + 1)
        for rows in range(1, max_tiles // columns + 1)
        if columns * rows >= min_tiles
    ]
    return tuple(sorted(grids, key=lambda grid: grid[0] * grid[1]))


@functools.lru_cache(maxsize=16)
def _resolutions(tile_size: int, min_tiles: int, max_tiles: int) -> tuple[Size, ...]:
    """(height, width) of all grids within the bounds."""
    return tuple((rows * tile_size, columns * tile_size) for columns, rows in _grids(min_tiles, max_tiles))


def closest_grid(width: int, height: int, tile_size: int, min_tiles: int, max_tiles: int) -> tuple[int, int]:
    """(columns, rows) of closest aspect. On a tie the larger wins while it is under twice the picture's own area."""
    aspect, area = width / height, width * height
    best, least = (1, 1), float("inf")
    for columns, rows in _grids(min_tiles, max_tiles):
        off = abs(aspect - columns / rows)
        if off < least:
            best, least = (columns, rows), off
        elif off == least and area > 0.5 * tile_size * tile_size * columns * rows:
            best = columns, rows
    return best
