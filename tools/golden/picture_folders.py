"""Folders of served models that see pictures. See folders.py."""

from asking import picture_rows
from pictures import (
    fuyu_question,
    gemma_4_question,
    llama_4_question,
    llama_32_vision_question,
    phi_4_question,
    tile_question,
)
from transformers.models.fuyu.image_processing_pil_fuyu import FuyuImageProcessorPil
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.idefics3.processing_idefics3 import Idefics3Processor
from transformers.models.kimi_k25.image_processing_kimi_k25 import Kimi_K25ImageProcessor
from transformers.models.llama4.image_processing_llama4 import Llama4ImageProcessor
from transformers.models.mllama.image_processing_pil_mllama import MllamaImageProcessorPil
from transformers.models.phi4_multimodal.image_processing_phi4_multimodal import Phi4MultimodalImageProcessor


def read(kind, question_of):
    """A maker for folders that `kind` reads, and over which `question_of` asks."""

    def maker(folder, chance):
        return {"images": picture_rows(question_of(kind.from_pretrained(folder)), chance)}

    return maker


def idefics3(folder, chance):
    own, _ = Idefics3Processor.get_processor_dict(folder)
    pictures = Idefics3ImageProcessorPil.from_pretrained(folder)
    return {"images": picture_rows(tile_question(pictures, own["image_seq_len"]), chance)}


def kimi_k25(processor):
    return lambda width, height: processor.get_number_of_image_patches(height, width) // 4


def mllama(processor):
    return llama_32_vision_question(processor.max_image_tiles, processor.size["height"])


FOLDERS = {
    "served/smolvlm": (
        idefics3,
        {
            "processor_config.json": {"processor_class": "Idefics3Processor", "image_seq_len": 64},
            "preprocessor_config.json": {
                "image_processor_type": "Idefics3ImageProcessor",
                "max_image_size": {"longest_edge": 512},
                "size": {"longest_edge": 1_024},
            },
        },
    ),
    "served/gemma-4-nested": (
        read(Gemma4ImageProcessorPil, gemma_4_question),
        {
            "processor_config.json": {
                "processor_class": "Gemma4Processor",
                "image_seq_length": 280,
                "image_processor": {
                    "image_processor_type": "Gemma4ImageProcessor",
                    "max_soft_tokens": 560,
                    "patch_size": 16,
                    "pooling_kernel_size": 3,
                },
            }
        },
    ),
    "served/llama-4": (
        read(Llama4ImageProcessor, llama_4_question),
        {
            "config.json": {"model_type": "llama4"},
            "preprocessor_config.json": {
                "image_processor_type": "Llama4ImageProcessorFast",
                "processor_class": "Llama4Processor",
                "max_patches": 6,
                "resize_to_max_canvas": True,
                "size": {"height": 448, "width": 448},
            },
        },
    ),
    "served/llama-3.2-vision": (
        read(MllamaImageProcessorPil, mllama),
        {
            "config.json": {"architectures": ["MllamaForConditionalGeneration"]},
            "preprocessor_config.json": {
                "image_processor_type": "MllamaImageProcessor",
                "max_image_tiles": 6,
                "size": {"height": 448, "width": 448},
            },
        },
    ),
    "served/fuyu": (
        read(FuyuImageProcessorPil, fuyu_question),
        {
            "config.json": {"model_type": "fuyu", "patch_size": 30},
            "preprocessor_config.json": {
                "processor_class": "FuyuProcessor",
                "patch_size": {"height": 20, "width": 20},
                "size": {"height": 600, "width": 800},
            },
        },
    ),
    "served/phi-4-multimodal": (
        read(Phi4MultimodalImageProcessor, phi_4_question),
        {
            "config.json": {"architectures": ["Phi4MMForCausalLM"], "model_type": "phi4mm"},
            "preprocessor_config.json": {
                "image_processor_type": "Phi4MultimodalImageProcessorFast",
                "dynamic_hd": 12,
            },
        },
    ),
    "served/kimi-k2.5": (
        read(Kimi_K25ImageProcessor, kimi_k25),
        {
            "config.json": {"model_type": "kimi_k25"},
            "preprocessor_config.json": {
                "image_processor_type": "Kimi_K25ImageProcessor",
                "max_patches": 4_096,
                "size": {"max_height": 128, "max_width": 128},
                "patch_size": 14,
                "merge_size": 2,
            },
        },
    ),
}
