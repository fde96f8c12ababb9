"""The resize of the Qwen vision models: sides that are multiples of a cell, area within bounds, aspect kept.

Source: transformers 5.24.0, qwen2_vl/image_processing_qwen2_vl.py and qwen3_vl/video_processing_qwen3_vl.py.
Rounding is half to even, as there.
"""

import math
from typing import Annotated, Literal

import msgspec

# Who resizes: transformers (and vLLM, SGLang through it) or llama.cpp. The rule is one, and its rounding is not.
Resizer = Literal["transformers", "llama.cpp"]

# Above this ratio of sides transformers refuses the picture. An engine may not, so it is priced all the same.
MAX_ASPECT = 200


def within_aspect(width: int, height: int) -> bool:
    """Tell whether transformers would take a picture of these sides."""
    return max(width, height) <= MAX_ASPECT * min(width, height)


def smart_resize(
    width: int, height: int, cell: int, min_pixels: int, max_pixels: int, resizer: Resizer = "transformers"
) -> tuple[int, int]:
    """Width and height after the resize, both at least one cell."""
    if resizer == "llama.cpp":
        return _llama_cpp_resize(width, height, cell, min_pixels, max_pixels)
    return resize_volume(1, width, height, cell, min_pixels, max_pixels, temporal_cell=1)


# Least and most cells of a picture, as llama.cpp's --image-min-tokens and --image-max-tokens.
CellBounds = tuple[Annotated[int, msgspec.Meta(ge=1)], Annotated[int, msgspec.Meta(ge=1)]]


def cells_within(width: int, height: int, cell: int, bounds: CellBounds) -> tuple[int, int]:
    """Columns and rows of cells, after the resize by which llama.cpp keeps a picture within `bounds`."""
    least, most = (count * cell**2 for count in bounds)
    new_width, new_height = _llama_cpp_resize(width, height, cell, least, most)
    return new_width // cell, new_height // cell


def _llama_cpp_resize(
    width: int, height: int, cell: int, min_pixels: int, max_pixels: int
) -> tuple[int, int]:
    """Halves away from zero, and at least one cell before the bounds are looked at. Seen on 600 sizes of llama.cpp."""
    new_width = max(cell, math.floor(width / cell + 0.5) * cell)
    new_height = max(cell, math.floor(height / cell + 0.5) * cell)
    if min_pixels <= new_width * new_height <= max_pixels:
        return new_width, new_height
    shrink = new_width * new_height > max_pixels
    return _scaled(1, width, height, cell, max_pixels if shrink else min_pixels, shrink=shrink)


def resize_volume(
    frames: int, width: int, height: int, cell: int, min_pixels: int, max_pixels: int, temporal_cell: int
) -> tuple[int, int]:
    """Width and height of each frame, with the bounds on the pixels of all frames together."""
    new_width, new_height = round(width / cell) * cell, round(height / cell) * cell
    volume = round(frames / temporal_cell) * temporal_cell * new_width * new_height
    if min_pixels <= volume <= max_pixels:
        return max(cell, new_width), max(cell, new_height)
    shrink = volume > max_pixels
    return _scaled(frames, width, height, cell, max_pixels if shrink else min_pixels, shrink=shrink)


def _scaled(frames: int, width: int, height: int, cell: int, bound: int, *, shrink: bool) -> tuple[int, int]:
    """The sides scaled by one factor onto the bound of pixels, in whole cells towards its inside."""
    if shrink:
        factor = math.sqrt(frames * height * width / bound)
        columns, rows = math.floor(width / factor / cell), math.floor(height / factor / cell)
        return max(1, columns) * cell, max(1, rows) * cell
    factor = math.sqrt(bound / (frames * height * width))
    return math.ceil(width * factor / cell) * cell, math.ceil(height * factor / cell) * cell
