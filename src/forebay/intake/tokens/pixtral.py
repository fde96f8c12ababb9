"""Pixtral and Mistral Small 3.

Sources: transformers 5.24.0, pixtral/image_processing_ and processing_pixtral.py; llama.cpp, tools/mtmd/clip.cpp.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.intake.tokens.family import ImageRules, MediaCost, Positive
from forebay.intake.tokens.smart_resize import CellBounds, cells_within


class Pixtral(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Shrink to `longest_edge`, then one token per cell of `patch_size * merge_size` and one at the end of each row.

    The row ends are placeholders of the model's own, so they count as tokens and not as wrapper. With `cell_bounds`, as in
    llama.cpp, a picture is resized to so many cells instead, whatever its longest edge.
    """

    name: ClassVar[str] = "pixtral"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "longest_edge": ("size.longest_edge",),
        "patch_size": ("patch_size.height", "patch_size"),
        "merge_size": ("spatial_merge_size",),
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"llama.cpp": {"cell_bounds": (8, 1_024)}}

    longest_edge: Positive = 1_024
    patch_size: Positive = 16
    merge_size: Positive = 1
    cell_bounds: CellBounds | None = None

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules. A sliver that is shrunk to nothing, which transformers refuses, is priced at one cell across."""
        cell = self.patch_size * self.merge_size
        if self.cell_bounds is not None:
            return self._cost(*cells_within(width, height, cell, self.cell_bounds))
        ratio = max(height / self.longest_edge, width / self.longest_edge)
        if ratio > 1:
            width, height = math.floor(width / ratio), math.floor(height / ratio)
        return self._cost(max(1, -(-width // cell)), max(1, -(-height // cell)), exact=min(width, height) > 0)

    def _cost(self, columns: int, rows: int, *, exact: bool = True) -> MediaCost:
        return MediaCost(rows * (columns + 1), 0, rows * columns * self.merge_size**2, exact)


class Mistral3(Pixtral, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Mistral Small 3.1 and later: patches of 14 merged two by two, up to 1,540 pixels."""

    name: ClassVar[str] = "mistral-3"
    longest_edge: Positive = 1_540
    patch_size: Positive = 14
    merge_size: Positive = 2
