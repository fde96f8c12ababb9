"""Write a checkpoint as GGUF (language model and vision projector, F16) and as a Hugging Face folder.

    PYTHONPATH=tools python -m tinyvlm.export build/tinyvlm/checkpoint.pt --gguf DIR --folder DIR/hf

All weights are rounded to float16 first, so that both layouts hold the same numbers.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast, Qwen2VLForConditionalGeneration

from tinyvlm import architecture, gguf_layout, vocabulary
from tinyvlm.engines import MAX_IMAGE_TOKENS, MIN_IMAGE_TOKENS

PIXELS_IN_TOKEN = 28 * 28


def load(checkpoint: Path) -> Qwen2VLForConditionalGeneration:
    """The trained network, rounded to float16 values (kept as float32)."""
    model = architecture.new_model()
    state = torch.load(checkpoint, weights_only=True)["model"]
    model.load_state_dict({name: value.half().float() for name, value in state.items()})
    return model.eval()


def write_folder(model: Qwen2VLForConditionalGeneration, folder: Path) -> None:
    """The Hugging Face layout: configuration, weights stored as float16, tokenizer, picture processing."""
    folder.mkdir(parents=True, exist_ok=True)
    model.half().save_pretrained(folder)
    model.float()
    # Half a byte count on disk, full precision in use: a CPU engine reads `dtype` and computes in float32.
    config = json.loads((folder / "config.json").read_text())
    config["dtype"] = config["text_config"]["dtype"] = config["vision_config"]["dtype"] = "float32"
    _write_json(folder / "config.json", config)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=vocabulary.tokenizer(), eos_token="<|im_end|>", pad_token="<|endoftext|>",  # noqa: S106  (no secrets)
        additional_special_tokens=list(vocabulary.SPECIALS[1:]), model_max_length=architecture.CONTEXT,
    )  # fmt: skip
    tokenizer.chat_template = vocabulary.CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(vocabulary.CHAT_TEMPLATE)
    low, high = MIN_IMAGE_TOKENS * PIXELS_IN_TOKEN, MAX_IMAGE_TOKENS * PIXELS_IN_TOKEN
    common = {
        "min_pixels": low, "max_pixels": high, "size": {"shortest_edge": low, "longest_edge": high},
        "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "resample": 3,
        "image_mean": architecture.IMAGE_MEAN, "image_std": architecture.IMAGE_STD, "rescale_factor": 1 / 255,
        "do_rescale": True, "do_normalize": True, "do_resize": True, "do_convert_rgb": True,
        "processor_class": "Qwen2VLProcessor",
    }  # fmt: skip
    _write_json(
        folder / "preprocessor_config.json", common | {"image_processor_type": "Qwen2VLImageProcessor"}
    )
    _write_json(
        folder / "video_preprocessor_config.json", common | {"video_processor_type": "Qwen2VLVideoProcessor"}
    )


def write_gguf(model: Qwen2VLForConditionalGeneration, folder: Path) -> None:
    """`tinyvlm-f16.gguf` and `tinyvlm-mmproj-f16.gguf`."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.numpy().astype(np.float32) for name, value in model.state_dict().items()}
    gguf_layout.write_language(folder / "tinyvlm-f16.gguf", weights)
    gguf_layout.write_projector(folder / "tinyvlm-mmproj-f16.gguf", weights)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")


def main() -> None:
    """Read the command line and export."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--gguf", type=Path, required=True, help="folder for the two GGUF files")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the Hugging Face layout")
    options = parser.parse_args()
    model = load(options.checkpoint)
    write_gguf(model, options.gguf)
    write_folder(model, options.folder)


if __name__ == "__main__":
    main()
