"""Makers of vectors for the families that see pictures, asked of `transformers`. See make_vectors.py."""
# ruff: noqa: S106, SLF001 -- stand-in tokens are no passwords, and the package's own inner methods are what is asked

import unittest.mock

import torch
import torchvision_operators  # noqa: F401  before anything imports torchvision
from asking import bare, blank, image_set
from transformers.image_processing_backends import PilBackend
from transformers.image_utils import SizeDict
from transformers.models.fuyu.image_processing_pil_fuyu import FuyuImageProcessorPil
from transformers.models.fuyu.processing_fuyu import FuyuProcessor
from transformers.models.gemma3n.processing_gemma3n import Gemma3nProcessor
from transformers.models.gemma4.image_processing_pil_gemma4 import get_aspect_ratio_preserving_size
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.idefics3.processing_idefics3 import Idefics3Processor
from transformers.models.kimi_k25.image_processing_kimi_k25 import Kimi_K25ImageProcessor
from transformers.models.llama4 import image_processing_llama4
from transformers.models.llama4.processing_llama4 import Llama4Processor
from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
    LlavaOnevisionImageProcessorPil,
)
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor
from transformers.models.mllama.image_processing_pil_mllama import get_optimal_tiled_canvas
from transformers.models.phi4_multimodal import image_processing_phi4_multimodal
from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

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


def llama_4(chance):
    words = bare(Llama4Processor)

    def one(tiles):
        canvases = torch.tensor(
            image_processing_llama4.find_supported_resolutions(tiles, SizeDict(height=336, width=336))
        )

        def question(width, height):
            high, wide = image_processing_llama4.get_best_fit((height, width), canvases).tolist()
            return words._prompt_split_image((high // 336, wide // 336), 144).count("<|patch|>")

        return pictures({"max_tiles": tiles}, question, chance)

    return {"images": [one(16), one(5)]}


def llama_32_vision(chance):
    def question(width, height):
        high, wide = get_optimal_tiled_canvas(height, width, 4, 560)
        return int(high // 560 * (wide // 560)) * 1601

    return {"images": [pictures({}, question, chance)]}


def fuyu(chance):
    processor = FuyuImageProcessorPil()
    words = bare(FuyuProcessor, image_token="x", image_newline_token="x")

    def question(width, height):
        sized = processor.resize(blank(width, height), SizeDict(height=1080, width=1920))
        rows, columns = (-(-side // 30) for side in sized.shape[-2:])
        text = words.replace_image_token({}, 0, num_patches=rows * columns, row_width=columns)
        return len(text.removesuffix("<s>"))

    return {"images": [pictures({}, question, chance)]}


def phi_4_mask(processor, width, height, crops):
    """Which patches of the crops hold something of the picture. Its pixels are left out: resize and padding do nothing."""
    pixels = torch.zeros(3, 1, 1).expand(3, height, width)
    with unittest.mock.patch.object(image_processing_phi4_multimodal, "tvF"):
        return processor.dynamic_preprocess(pixels, 448, 14, 32, max_num=crops)[1]


def phi_4_multimodal(chance):
    def one(crops):
        processor = image_processing_phi4_multimodal.Phi4MultimodalImageProcessor()

        def question(width, height):
            kept = phi_4_mask(processor, width, height, crops)[::2, ::2]
            return 256 + 1 + int(kept.sum()) + int(kept[:, 0].sum()) + 16

        return pictures({"max_crops": crops}, question, chance)

    return {"images": [one(36), one(9)]}


def tiled(kind, settings, chance):
    """Idefics3's own resizes and cuts, over pictures that take no memory: the base class's resize is told the shape alone."""
    edge, tile, seats = settings["longest_edge"], settings["tile_size"], settings["tokens_per_tile"]
    processor = kind(size={"longest_edge": edge}, max_image_size={"longest_edge": tile})
    words = bare(
        Idefics3Processor, image_token="x", fake_image_token="", global_image_tag="", image_seq_len=seats
    )

    def question(width, height):
        with unittest.mock.patch.object(
            PilBackend, "resize", lambda _, _image, size, **__: blank(size.width, size.height)
        ):
            sized = processor.resize(blank(width, height), SizeDict(longest_edge=edge))
            sized = processor.resize_for_vision_encoder(sized, tile)
            _, rows, columns = processor.split_images(sized, {"longest_edge": tile})
        return words.replace_image_token({"rows": [[rows]], "cols": [[columns]]}, 0).count("x")

    return pictures(settings, question, chance)


def idefics3(chance):
    usual = {"longest_edge": 1_456, "tile_size": 364, "tokens_per_tile": 169}
    return {
        "images": [
            tiled(Idefics3ImageProcessorPil, usual | change, chance)
            for change in ({}, {"longest_edge": 1_000}, {"longest_edge": 5_000}, {"longest_edge": 300})
        ]
    }


def smolvlm(chance):
    settings = {"longest_edge": 1_536, "tile_size": 384, "tokens_per_tile": 81}
    return {"images": [tiled(SmolVLMImageProcessorPil, settings, chance)]}


def smolvlm_500m(chance):
    settings = {"longest_edge": 2_048, "tile_size": 512, "tokens_per_tile": 64}
    return {"images": [tiled(SmolVLMImageProcessorPil, settings, chance)]}


def kimi_k25(chance):
    def one(most):
        processor = Kimi_K25ImageProcessor(max_patches=most)
        return pictures(
            {"max_patches": most}, lambda w, h: processor.get_number_of_image_patches(h, w) // 4, chance
        )

    return {"images": [one(16_384), one(4_096)]}


def gemma_3n(chance):
    words = bare(
        Gemma3nProcessor,
        full_image_sequence="<" + "x" * 256 + ">",
        image_seq_length=256,
        audio_seq_length=188,
    )
    sounds = [
        [samples, words._get_num_multimodal_tokens(audio_lengths=[samples]).num_audio_tokens[0]]
        for samples in (1_600, 16_000, 480_000, 900_000)
    ]
    return {
        "images": [pictures({}, lambda *_: words.replace_image_token({}, 0).count("x"), chance)],
        "audio": [{"settings": {}, "columns": ["samples", "tokens"], "rows": sounds}],
    }


MAKERS = {
    "gemma-3n": gemma_3n,
    "idefics3": idefics3,
    "smolvlm": smolvlm,
    "smolvlm-500m": smolvlm_500m,
    "kimi-k2.5": kimi_k25,
    "llava-onevision": llava_onevision,
    "gemma-4": gemma_4,
    "llama-4": llama_4,
    "llama-3.2-vision": llama_32_vision,
    "fuyu": fuyu,
    "phi-4-multimodal": phi_4_multimodal,
}
