"""Lets PyPI's torchvision be imported beside a CPU torch.

That build is for CUDA: here its own operators do not load, and only its Python is needed. Import looks for two of them.
"""

import torch

operators = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
