"""Write tests/golden/<family>.json: what the `transformers` package itself answers for seeded random media.

Run in an environment of its own (see README.md beside this file), from anywhere: `python make_vectors.py [FAMILY...]`.
A row whose last value is null is one that `transformers` refuses.
"""
# ruff: noqa: S106 -- stand-in tokens are no passwords, and the package's own inner methods are what is asked

import json
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import torchvision_operators  # noqa: F401  before anything imports torchvision
import transformers
from asking import bare, blank, image_set
from clips import MAKERS as CLIPS
from clips import qwen2_videos, qwen3_videos
from folders import FOLDERS, folder_vectors
from pictures import MAKERS as PICTURES
from published import MAKERS as PUBLISHED
from sounds import MAKERS as SOUNDS
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.internvl.processing_internvl import InternVLProcessor
from transformers.models.llava.processing_llava import LlavaProcessor
from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor
from transformers.models.pixtral.image_processing_pil_pixtral import get_resize_output_image_size
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

SEED = 20_260_101
TARGET = Path(__file__).resolve().parents[2] / "tests" / "golden"
PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]


def qwen_images(settings, chance):
    processor = Qwen2VLImageProcessorPil(
        size={"shortest_edge": settings["min_pixels"], "longest_edge": settings["max_pixels"]},
        patch_size=settings["patch_size"],
        merge_size=2,
    )
    return image_set(settings, lambda w, h: processor.get_number_of_image_patches(h, w) // 4, chance)


def qwen2_vl(chance):
    hub = {"min_pixels": 3_136, "max_pixels": 12_845_056, "patch_size": 14}
    return {
        "images": [
            qwen_images(hub, chance),
            qwen_images({**hub, "max_pixels": 1_003_520}, chance),
            qwen_images({**hub, "min_pixels": 6_272, "max_pixels": 50_176}, chance),
        ],
        "videos": [qwen2_videos({}, chance), qwen2_videos({"cap_pixels_per_frame": True}, chance)],
    }


def qwen3_vl(chance):
    hub = {"min_pixels": 65_536, "max_pixels": 16_777_216, "patch_size": 16}
    return {
        "images": [qwen_images(hub, chance)],
        "videos": [qwen3_videos({}, chance), qwen3_videos({"cap_pixels_per_frame": True}, chance)],
    }


def llava(chance):
    processor = bare(
        LlavaProcessor,
        image_token="x",
        patch_size=14,
        num_additional_image_tokens=1,
        vision_feature_select_strategy="default",
    )
    pixels = {"pixel_values": [np.zeros((3, 336, 336))]}
    return {"images": [image_set({}, lambda *_: len(processor.replace_image_token(pixels, 0)), chance)]}


def llava_next(chance):
    processor = bare(
        LlavaNextProcessor,
        image_token="x",
        patch_size=14,
        num_additional_image_tokens=1,
        vision_feature_select_strategy="default",
        image_processor=type("Pinpoints", (), {"image_grid_pinpoints": PINPOINTS}),
    )

    def question(width, height):
        pixels = {"image_sizes": [(height, width)], "pixel_values": [np.zeros((1, 3, 336, 336))]}
        return len(processor.replace_image_token(pixels, 0))

    return {"images": [image_set({}, question, chance)]}


def internvl(chance):
    words = bare(
        InternVLProcessor, start_image_token="", end_image_token="", image_token="x", image_seq_length=256
    )

    def tiles(settings):
        processor = GotOcr2ImageProcessorPil(
            size={"height": 448, "width": 448},
            crop_to_patches=True,
            min_patches=1,
            max_patches=settings["max_tiles"],
        )

        def question(width, height):
            return len(
                words.replace_image_token(
                    {"num_patches": [processor.get_number_of_image_patches(height, width)]}, 0
                )
            )

        return image_set(settings, question, chance)

    return {"images": [tiles({"max_tiles": 12}), tiles({"max_tiles": 6})]}


def pixtral_images(settings, chance):
    cell = settings["patch_size"] * settings["merge_size"]

    def question(width, height):
        high, wide = get_resize_output_image_size(
            blank(width, height), settings["longest_edge"], cell, "channels_first"
        )
        if high == 0 or wide == 0:
            return None  # a sliver that is shrunk to nothing: its resize fails
        return high // cell * (wide // cell + 1)

    return image_set(settings, question, chance)


def pixtral(chance):
    return {"images": [pixtral_images({"longest_edge": 1024, "patch_size": 16, "merge_size": 1}, chance)]}


def mistral_3(chance):
    return {"images": [pixtral_images({"longest_edge": 1540, "patch_size": 14, "merge_size": 2}, chance)]}


def gemma_3(chance):
    processor = Gemma3ImageProcessorPil()
    scanned = {"pan_and_scan": True, "min_crop_side": 256, "max_crops": 4, "min_crop_aspect": 1.2}

    def question(width, height):
        return 256 * (1 + len(processor.pan_and_scan(blank(width, height), 256, 4, 1.2)))

    return {"images": [image_set({}, lambda *_: 256, chance), image_set(scanned, question, chance)]}


MAKERS = {
    "qwen2-vl": qwen2_vl,
    "qwen3-vl": qwen3_vl,
    "llava-1.5": llava,
    "llava-next": llava_next,
    "internvl": internvl,
    "pixtral": pixtral,
    "mistral-3": mistral_3,
    "gemma-3": gemma_3,
}
# What a family sees and what it hears are asked for apart.
ASKED = (MAKERS, PICTURES, CLIPS, SOUNDS, PUBLISHED)


def written(vectors):
    """JSON with one row a line, so that a changed formula shows as changed rows."""
    rows = {}

    def set_aside(one):
        key = f"@{len(rows)}@"
        rows[f'"{key}"'] = ",\n".join("    " + json.dumps(row, separators=(",", ":")) for row in one["rows"])
        return {**one, "columns": ",".join(one["columns"]), "rows": [key]}

    text = json.dumps(
        {k: [set_aside(one) for one in v] if isinstance(v, list) else v for k, v in vectors.items()}, indent=1
    )
    for key, lines in rows.items():
        text = text.replace(f"    {key}", lines)
    return text + "\n"


def vectors_of(family):
    vectors = {"family": family, "transformers": transformers.__version__, "seed": SEED}
    if family in FOLDERS:
        return vectors | folder_vectors(family, random.Random(f"{SEED} {family}"))
    for makers in ASKED:
        if family in makers:
            vectors |= makers[family](random.Random(f"{SEED} {family}"))
    if "source" in vectors:
        del vectors["transformers"]
    return vectors


def main(families):
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    (TARGET / "served").mkdir(parents=True, exist_ok=True)
    for family in families or dict.fromkeys(name for makers in (*ASKED, FOLDERS) for name in makers):
        vectors = vectors_of(family)
        (TARGET / f"{family}.json").write_text(written(vectors))
        print(
            family, {kind: sum(len(s["rows"]) for s in v) for kind, v in vectors.items() if type(v) is list}
        )


if __name__ == "__main__":
    main(sys.argv[1:])
