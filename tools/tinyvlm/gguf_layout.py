"""GGUF as llama.cpp wants it for Qwen2-VL: a `qwen2vl` language model and a `clip` projector.

Facts that cost others time: the fused `attn.qkv` must be split; both temporal slices of the patch embedding are stored;
`add_bos_token` must be false; matrices are F16, vectors F32.
"""

import json
from pathlib import Path

import gguf
import numpy as np

from tinyvlm import architecture as shape
from tinyvlm import vocabulary

Weights = dict[str, np.ndarray]
LANGUAGE, VISION = "model.language_model.", "model.visual."
FILE_TYPE_F16 = 1
PICTURE_SIZE = 560
LANGUAGE_NAMES = {
    "token_embd": LANGUAGE + "embed_tokens",
    "output": "lm_head",
    "output_norm": LANGUAGE + "norm",
}
LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
VISION_LAYER_NAMES = {
    "attn_out": "attn.proj",
    "ln1": "norm1",
    "ln2": "norm2",
    "ffn_up": "mlp.fc1",
    "ffn_down": "mlp.fc2",
}
MERGER_NAMES = {"v.post_ln": "merger.ln_q", "mm.0": "merger.mlp.0", "mm.2": "merger.mlp.2"}


def write_language(path: Path, weights: Weights) -> None:
    """The decoder and its tokenizer."""
    writer = gguf.GGUFWriter(path, "qwen2vl")
    writer.add_name("tinyvlm")
    writer.add_file_type(FILE_TYPE_F16)
    writer.add_context_length(shape.CONTEXT)
    writer.add_embedding_length(shape.TEXT_WIDTH)
    writer.add_block_count(shape.TEXT_DEPTH)
    writer.add_feed_forward_length(shape.TEXT_HIDDEN)
    writer.add_head_count(shape.TEXT_HEADS)
    writer.add_head_count_kv(shape.TEXT_GROUPS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(vocabulary.SIZE)
    writer.add_rope_freq_base(shape.ROTARY_BASE)
    writer.add_rope_dimension_sections([*shape.ROTARY_SECTIONS, 0])
    _add_tokenizer(writer)
    for name, source in LANGUAGE_NAMES.items():
        _put(writer, f"{name}.weight", weights[f"{source}.weight"])
    for layer in range(shape.TEXT_DEPTH):
        for name, source in LAYER_NAMES.items():
            _put_all(writer, f"blk.{layer}.{name}", f"{LANGUAGE}layers.{layer}.{source}", weights)
    _finish(writer)


def write_projector(path: Path, weights: Weights) -> None:
    """The vision tower and the merger."""
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_name("tinyvlm-vision")
    writer.add_file_type(FILE_TYPE_F16)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_bool("clip.use_silu", False)
    writer.add_bool("clip.use_gelu", False)
    writer.add_string("clip.projector_type", "qwen2vl_merger")
    numbers = {
        "image_size": PICTURE_SIZE, "patch_size": 14, "embedding_length": shape.VISION_WIDTH,
        "feed_forward_length": shape.VISION_WIDTH * shape.VISION_RATIO, "projection_dim": shape.TEXT_WIDTH,
        "block_count": shape.VISION_DEPTH, "attention.head_count": shape.VISION_HEADS,
    }  # fmt: skip
    for key, value in numbers.items():
        writer.add_uint32(f"clip.vision.{key}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    writer.add_array("clip.vision.image_mean", list(shape.IMAGE_MEAN))
    writer.add_array("clip.vision.image_std", list(shape.IMAGE_STD))
    patch = weights[VISION + "patch_embed.proj.weight"]
    _put(writer, "v.patch_embd.weight", patch[:, :, 0])
    _put(writer, "v.patch_embd.weight.1", patch[:, :, 1])
    for layer in range(shape.VISION_DEPTH):
        block = f"{VISION}blocks.{layer}."
        for part in ("weight", "bias"):
            for name, value in zip("qkv", np.split(weights[f"{block}attn.qkv.{part}"], 3), strict=True):
                _put(writer, f"v.blk.{layer}.attn_{name}.{part}", value)
        for name, source in VISION_LAYER_NAMES.items():
            _put_all(writer, f"v.blk.{layer}.{name}", block + source, weights)
    for name, source in MERGER_NAMES.items():
        _put_all(writer, name, VISION + source, weights)
    _finish(writer)


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    model = json.loads(vocabulary.tokenizer().to_str())["model"]
    names = {index: token for token, index in model["vocab"].items()}
    tokens = [names.get(index, f"[PAD{index}]") for index in range(vocabulary.SIZE)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([_token_type(token, index in names) for index, token in enumerate(tokens)])
    writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
    writer.add_bos_token_id(vocabulary.PAD)
    writer.add_eos_token_id(vocabulary.END)
    writer.add_pad_token_id(vocabulary.PAD)
    writer.add_add_bos_token(value=False)
    writer.add_chat_template(vocabulary.LLAMA_TEMPLATE)


def _token_type(token: str, known: bool) -> gguf.TokenType:
    if token in vocabulary.SPECIALS:
        return gguf.TokenType.CONTROL
    return gguf.TokenType.NORMAL if known else gguf.TokenType.UNUSED


def _put_all(writer: gguf.GGUFWriter, name: str, source: str, weights: Weights) -> None:
    for part in ("weight", "bias"):
        if f"{source}.{part}" in weights:
            _put(writer, f"{name}.{part}", weights[f"{source}.{part}"])


def _put(writer: gguf.GGUFWriter, name: str, value: np.ndarray) -> None:
    kind = np.float16 if value.ndim >= 2 else np.float32
    writer.add_tensor(name, np.ascontiguousarray(value).astype(kind))


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
