"""Makers of vectors for families that `transformers` lacks: what their published code or guide says, written down once more.

Each set names its `source`. These vectors show that two writings of one text agree, and no more: the examples that the
sources print stand in the tests as well.
"""

import math
from fractions import Fraction

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


GUIDE = "Images and vision, developers.openai.com; rounding by bills in community.openai.com/t/1281361"


def fitted(width, height, limit, side):
    """Both sides in whole pixels, where `side` (the longer or the shorter one) is at most `limit`. In fractions, not floats."""
    if side <= limit:
        return width, height
    return [max(1, round(Fraction(each * limit, side))) for each in (width, height)]


def openai_tiles(chance):
    def one(base, tile, detail):
        def question(width, height):
            if detail == "low":
                return base
            width, height = fitted(width, height, 2_048, max(width, height))
            width, height = fitted(width, height, 768, min(width, height))
            return base + tile * math.ceil(width / 512) * math.ceil(height / 512)

        settings = {"base_tokens": base, "tile_tokens": tile, "detail": detail}
        return image_set(settings, question, chance, COUNT)

    return published(GUIDE, one(85, 170, "high"), one(2_833, 5_667, "high"), one(85, 170, "low"))


def openai_patches(chance):
    def one(hundredths, most, detail):
        def question(width, height):
            limit = 512 if detail == "low" else 2_048
            width, height = fitted(width, height, limit, max(width, height))
            patches = math.ceil(width / 32) * math.ceil(height / 32)
            if patches > most:
                columns = max(1, math.isqrt(width * most // height))
                rows = max(1, math.isqrt(height * most // width))
                if Fraction(columns, width) < Fraction(rows, height):
                    rows = math.ceil(Fraction(32 * columns * height // width, 32))
                else:
                    columns = math.ceil(Fraction(32 * rows * width // height, 32))
                patches = min(most, columns * rows)
            return math.ceil(Fraction(patches * hundredths, 100))

        settings = {"multiplier": hundredths / 100, "max_patches": most, "detail": detail}
        return image_set(settings, question, chance, COUNT)

    return published(
        GUIDE,
        one(162, 1_536, "high"),
        one(246, 1_536, "high"),
        one(172, 1_536, "low"),
        one(120, 500, "high"),
    )


MAKERS = {
    "kimi-vl": kimi_vl,
    "phi-3-vision": phi_3_vision,
    "gpt-4o": openai_tiles,
    "gpt-4.1-mini": openai_patches,
}
