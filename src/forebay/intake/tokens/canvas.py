"""How many tiles the Llama vision models lay a picture on.

Source: transformers 5.24.0, llama4/image_processing_llama4.py and mllama/image_processing_mllama.py. The rule is one, and
its arithmetic is not: Llama 4 compares scales in single precision, so that other canvases tie.
"""

import functools

import numpy as np
from numpy.typing import NDArray


@functools.lru_cache(maxsize=16)
def _grids(tile_size: int, max_tiles: int, *, single_precision: bool) -> tuple[NDArray[np.floating], ...]:
    """Height, width and number of tiles of every canvas of up to `max_tiles`."""
    grids = [
        (rows * tile_size, columns * tile_size, rows * columns)
        for rows in range(1, max_tiles + 1)
        for columns in range(1, max_tiles // rows + 1)
    ]
    return tuple(np.array(grids, np.float32 if single_precision else np.float64).T)


def canvas_tiles(
    width: int,
    height: int,
    tile_size: int,
    max_tiles: int,
    *,
    single_precision: bool = False,
    largest: bool = False,
) -> int:
    """Tiles of the canvas that enlarges a picture least, or else shrinks it least. Of equals, the one of fewest tiles.

    With `largest` it is the canvas that enlarges most.
    """
    heights, widths, tiles = _grids(tile_size, max_tiles, single_precision=single_precision)
    scales = np.minimum(heights / height, widths / width)
    enlarging = scales[scales >= 1]
    chosen = enlarging.min() if len(enlarging) and not largest else scales.max()
    return int(tiles[scales == chosen].min())
