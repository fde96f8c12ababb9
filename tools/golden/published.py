"""Makers of vectors for families that `transformers` lacks: what their published code or guide says, written down once more.

Each set names its `source`. These vectors show that two writings of one text agree, and no more: the examples that the
sources print stand in the tests as well.
"""

import math

import numpy as np
from asking import image_set

COUNT = 80


def published(source, *sets):
    return {"source": source, "images": list(sets)}


def kimi_vl(chance):
    """The remote code's `rescale`, with `pad_input` as every checkpoint has it."""

    def one(limit):
        def question(width, height):
            if (width // 14) * (height // 14) > limit:
                scale = math.sqrt(limit / ((width // 14) * (height // 14)))
                width, height = int(width * scale), int(height * scale)
            width, height = width + (28 - width % 28) % 28, height + (28 - height % 28) % 28
            if width // 14 >= 512 or height // 14 >= 512:
                return None
            return width // 28 * (height // 28)

        return image_set({"max_patches": limit}, question, chance, COUNT)

    return published(
        "image_processing_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct", one(4_096), one(16_384)
    )


def phi_3_vision(chance):
    """The remote code's `HD_transform` of a landscape, and its portrait on the side."""

    def one(crops):
        def question(width, height):
            portrait = width < height
            if portrait:
                width, height = height, width
            ratio = width / height
            scale = sum(n * np.ceil(n / ratio) <= crops for n in range(1, crops + 1))
            high = int(int(scale * 336) / ratio)
            if high == 0:
                return None
            rows, columns = math.ceil(high / 336), int(scale)
            if portrait:
                rows, columns = columns, rows
            return (rows * columns + 1) * 144 + 1 + (rows + 1) * 12

        return image_set({"max_crops": crops}, question, chance, COUNT)

    return published("image_processing_phi3_v.py of microsoft/Phi-3-vision-128k-instruct", one(16), one(4))


MAKERS = {"kimi-vl": kimi_vl, "phi-3-vision": phi_3_vision}
