"""Makers of vectors for the families that see pictures, asked of `transformers`. See make_vectors.py."""
# ruff: noqa: SLF001 -- the package's own inner methods are what is asked

import torchvision_operators  # noqa: F401  before anything imports torchvision
from asking import bare, image_set
from transformers.models.gemma4.image_processing_pil_gemma4 import get_aspect_ratio_preserving_size
from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
    LlavaOnevisionImageProcessorPil,
)
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor

COUNT = 80


def pictures(settings, question, chance):
    return image_set(settings, question, chance, COUNT)


def llava_onevision(chance):
    def one(ratio):
        processor = bare(
            LlavaOnevisionProcessor,
            num_image_tokens=729,
            vision_aspect_ratio=ratio,
            image_processor=LlavaOnevisionImageProcessorPil(),
        )
        settings = {"vision_aspect_ratio": ratio}
        return pictures(settings, lambda w, h: processor._get_number_of_features(h, w, 384, 384), chance)

    return {"images": [one("anyres_max_9"), one("anyres_max_4")]}


def gemma_4(chance):
    def one(most):
        def question(width, height):
            high, wide = get_aspect_ratio_preserving_size(height, width, 16, most * 9, 3)
            return high // 48 * (wide // 48)

        return pictures({"max_tokens": most}, question, chance)

    return {"images": [one(280), one(70), one(1_120)]}


MAKERS = {"llava-onevision": llava_onevision, "gemma-4": gemma_4}
