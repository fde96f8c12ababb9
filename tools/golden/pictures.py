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
from transformers.models.gemma4.image_processing_pil_gemma4 import (
    Gemma4ImageProcessorPil,
    get_aspect_ratio_preserving_size,
)
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


def gemma_4_question(processor):
    patch, pool = processor.patch_size, processor.pooling_kernel_size

    def question(width, height):
        high, wide = get_aspect_ratio_preserving_size(
            height, width, patch, processor.max_soft_tokens * pool**2, pool
        )
        return high // (patch * pool) * (wide // (patch * pool))

    return question


def gemma_4(chance):
    def one(most):
        return pictures(
            {"max_tokens": most}, gemma_4_question(Gemma4ImageProcessorPil(max_soft_tokens=most)), chance
        )

    return {"images": [one(280), one(70), one(1_120)]}


def llama_4_question(processor):
    words, side = bare(Llama4Processor), processor.size["height"]
    canvases = image_processing_llama4.find_supported_resolutions(
        processor.max_patches, SizeDict(height=side, width=side)
    )
    canvases = torch.tensor(canvases)

    def question(width, height):
        high, wide = image_processing_llama4.get_best_fit(
            (height, width), canvases, resize_to_max_canvas=processor.resize_to_max_canvas
        ).tolist()
        return words._prompt_split_image((high // side, wide // side), (side // 14) ** 2 // 4).count(
            "<|patch|>"
        )

    return question


def llama_4(chance):
    def one(tiles):
        processor = image_processing_llama4.Llama4ImageProcessor(max_patches=tiles)
        return pictures({"max_tiles": tiles}, llama_4_question(processor), chance)

    return {"images": [one(16), one(5)]}


def llama_32_vision_question(tiles, side):
    def question(width, height):
        high, wide = get_optimal_tiled_canvas(height, width, tiles, side)
        return int(high // side * (wide // side)) * ((side // 14) ** 2 + 1)

    return question


def llama_32_vision(chance):
    return {"images": [pictures({}, llama_32_vision_question(4, 560), chance)]}


def fuyu_question(processor):
    words = bare(FuyuProcessor, image_token="x", image_newline_token="x")
    size, patch = processor.size, processor.patch_size["height"]

    def question(width, height):
        sized = processor.resize(blank(width, height), SizeDict(height=size["height"], width=size["width"]))
        rows, columns = (-(-side // patch) for side in sized.shape[-2:])
        text = words.replace_image_token({}, 0, num_patches=rows * columns, row_width=columns)
        return len(text.removesuffix("<s>"))

    return question


def fuyu(chance):
    return {"images": [pictures({}, fuyu_question(FuyuImageProcessorPil()), chance)]}


def phi_4_mask(processor, width, height, crops):
    """Which patches of the crops hold something of the picture. Its pixels are left out: resize and padding do nothing."""
    pixels = torch.zeros(3, 1, 1).expand(3, height, width)
    with unittest.mock.patch.object(image_processing_phi4_multimodal, "tvF"):
        return processor.dynamic_preprocess(pixels, 448, 14, 32, max_num=crops)[1]


def phi_4_question(processor):
    def question(width, height):
        kept = phi_4_mask(processor, width, height, processor.dynamic_hd)[::2, ::2]
        return 256 + 1 + int(kept.sum()) + int(kept[:, 0].sum()) + 16

    return question


def phi_4_multimodal(chance):
    def one(crops):
        processor = image_processing_phi4_multimodal.Phi4MultimodalImageProcessor(dynamic_hd=crops)
        return pictures({"max_crops": crops}, phi_4_question(processor), chance)

    return {"images": [one(36), one(9)]}


def tile_question(processor, seats):
    """Idefics3's own resizes and cuts, over pictures that take no memory: the base class's resize is told the shape alone."""
    words = bare(
        Idefics3Processor, image_token="x", fake_image_token="", global_image_tag="", image_seq_len=seats
    )
    tile = processor.max_image_size["longest_edge"]

    def question(width, height):
        with unittest.mock.patch.object(
            PilBackend, "resize", lambda _, _image, size, **__: blank(size.width, size.height)
        ):
            sized = processor.resize(
                blank(width, height), SizeDict(longest_edge=processor.size["longest_edge"])
            )
            sized = processor.resize_for_vision_encoder(sized, tile)
            _, rows, columns = processor.split_images(sized, {"longest_edge": tile})
        return words.replace_image_token({"rows": [[rows]], "cols": [[columns]]}, 0).count("x")

    return question


def tiled(kind, settings, chance):
    processor = kind(
        size={"longest_edge": settings["longest_edge"]},
        max_image_size={"longest_edge": settings["tile_size"]},
    )
    return pictures(settings, tile_question(processor, settings["tokens_per_tile"]), chance)


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
