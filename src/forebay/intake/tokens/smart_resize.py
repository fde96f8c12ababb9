"""The resize of the Qwen vision models: sides that are multiples of a cell, area within bounds, aspect kept.

Source: transformers 5.24.0, qwen2_vl/image_processing_qwen2_vl.py and qwen3_vl/video_processing_qwen3_vl.py.
Rounding is half to even, as there.
"""

import math

# Above this ratio of sides transformers refuses the picture. An engine may not, so it is priced all the same.
MAX_ASPECT = 200


def within_aspect(width: int, height: int) -> bool:
    """Tell whether transformers would take a picture of these sides."""
    return max(width, height) <= MAX_ASPECT * min(width, height)


def smart_resize(width: int, height: int, cell: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    """Width and height after the resize, both at least one cell."""
    return resize_volume(1, width, height, cell, min_pixels, max_pixels, temporal_cell=1)


def resize_volume(
    frames: int, width: int, height: int, cell: int, min_pixels: int, max_pixels: int, temporal_cell: int
) -> tuple[int, int]:
    """Width and height of each frame, with the bounds on the pixels of all frames together."""
    new_width, new_height = round(width / cell) * cell, round(height / cell) * cell
    volume = round(frames / temporal_cell) * temporal_cell * new_width * new_height
    if volume > max_pixels:
        shrink = math.sqrt((frames * height * width) / max_pixels)
        new_width = max(cell, math.floor(width / shrink / cell) * cell)
        new_height = max(cell, math.floor(height / shrink / cell) * cell)
    elif volume < min_pixels:
        grow = math.sqrt(min_pixels / (frames * height * width))
        new_width = math.ceil(width * grow / cell) * cell
        new_height = math.ceil(height * grow / cell) * cell
    return max(cell, new_width), max(cell, new_height)
