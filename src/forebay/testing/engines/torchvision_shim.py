"""Lets a torchvision built for CUDA be imported beside a CPU torch; copied into an environment as `sitecustomize.py`.

torchvision's compiled operators then do not load, and its import fails on the two it describes to torch by name.
Declaring them beforehand is enough: the picture transforms that vLLM uses are plain Python.
"""

import importlib
import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_kept: list[Any] = []  # a torch library takes its operators back when it is collected


class _DeclareOperators(importlib.abc.MetaPathFinder):
    """Finds nothing; it only notices the moment before torchvision is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Declare the operators once, and leave the finding to the others."""
        del path, target
        if fullname == "torchvision" and not _kept:
            # By name, because torch is no dependency of this package, not even to check its types.
            torch: Any = importlib.import_module("torch")
            library: Any = torch.library.Library("torchvision", "DEF")
            _kept.append(library)
            for operator in ("nms", "qnms"):
                library.define(operator + _SIGNATURE)
        return None


sys.meta_path.insert(0, _DeclareOperators())
