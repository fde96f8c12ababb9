"""Kimi-VL and Kimi K2.5, whose MoonViT reads pictures at their own resolution.

Sources: image_processing_kimi_vl.py in the repositories of Kimi-VL-A3B; transformers 5.24.0,
kimi_k25/image_processing_kimi_k25.py; llama.cpp, tools/mtmd/clip.cpp and mtmd.cpp.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.intake.tokens.family import Count, ImageRules, MediaCost, Positive
from forebay.intake.tokens.smart_resize import CellBounds, cells_within


class KimiVL(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One token per cell of `patch_size * merge_size` pixels. Pictures are shrunk to about `max_patches`, and never enlarged.

    A picture of `max_side_patches` or more along a side is refused there. It is priced all the same, and not exact. With
    `cell_bounds`, as in llama.cpp, it is resized to so many cells instead. `wrapper_tokens` are media_start, the word
    `image`, media_content and media_end.
    """

    name: ClassVar[str] = "kimi-vl"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_patches": ("in_token_limit",),
        "patch_size": ("patch_size",),
        "merge_size": ("merge_kernel_size.0", "merge_kernel_size"),
    }
    # llama.cpp writes the first and the last of the marks.
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "llama.cpp": {"cell_bounds": (8, 1_024), "wrapper_tokens": 2}
    }

    max_patches: Positive = 4_096
    patch_size: Positive = 14
    merge_size: Positive = 2
    max_side_patches: Positive = 512
    wrapper_tokens: Count = 4
    cell_bounds: CellBounds | None = None

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        if self.cell_bounds is not None:
            cell = self.patch_size * self.merge_size
            return self._cost(*cells_within(width, height, cell, self.cell_bounds))
        return self._native(width, height)

    def _native(self, width: int, height: int) -> MediaCost:
        patches = width // self.patch_size * (height // self.patch_size)
        if patches > self.max_patches:
            scale = math.sqrt(self.max_patches / patches)
            width, height = int(width * scale), int(height * scale)
        columns, rows = self._cells(width), self._cells(height)
        taken = max(columns, rows) * self.merge_size < self.max_side_patches
        return self._cost(columns, rows, exact=taken)

    def _cells(self, side: int) -> int:
        return max(1, -(-side // (self.patch_size * self.merge_size)))

    def _cost(self, columns: int, rows: int, *, exact: bool = True) -> MediaCost:
        return MediaCost(columns * rows, self.wrapper_tokens, columns * rows * self.merge_size**2, exact)


class KimiVL2506(KimiVL, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Kimi-VL-A3B-Thinking-2506, which takes four times as many patches."""

    name: ClassVar[str] = "kimi-vl-2506"
    max_patches: Positive = 16_384


class KimiK25(KimiVL, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """As Kimi-VL, but a picture longer than `max_side_patches` is shrunk to that."""

    name: ClassVar[str] = "kimi-k2.5"
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_patches": ("max_patches", "media_proc_cfg.in_patch_limit"),
        "max_side_patches": ("size.max_height", "media_proc_cfg.patch_limit_on_one_side"),
        "patch_size": ("patch_size", "media_proc_cfg.patch_size"),
        "merge_size": ("merge_size", "media_proc_cfg.merge_kernel_size"),
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "llama.cpp": {"cell_bounds": (2, 4_096), "wrapper_tokens": 2}
    }

    max_patches: Positive = 16_384

    def _native(self, width: int, height: int) -> MediaCost:
        patches = max(1, width // self.patch_size) * max(1, height // self.patch_size)
        most = self.max_side_patches * self.patch_size
        scale = min(1.0, math.sqrt(self.max_patches / patches), most / width, most / height)
        return self._cost(self._cells(int(width * scale)), self._cells(int(height * scale)))
