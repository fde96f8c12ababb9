"""The network: Qwen2-VL's shape at toy width, with a start that lets a shallow vision tower learn fast."""

import math

import torch
from torch import nn
from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

from tinyvlm import vocabulary
from tinyvlm.drawing import LABEL_SIZES

VISION_WIDTH, VISION_DEPTH, VISION_HEADS, VISION_RATIO = 128, 4, 4, 2
TEXT_WIDTH, TEXT_DEPTH, TEXT_HIDDEN, TEXT_HEADS, TEXT_GROUPS = 128, 3, 320, 4, 2
HEAD_WIDTH = 32
ROTARY_SECTIONS = (4, 6, 6)
ROTARY_BASE = 10000.0
CONTEXT = 8192
IMAGE_MEAN = (0.48145466, 0.4578275, 0.40821073)
IMAGE_STD = (0.26862954, 0.26130258, 0.27577711)
# Where each head of each vision block looks first, in patches (row, column); None is left free.
FIRST_LOOKS = (
    ((0, -1), (0, 1), (1, 0), (-1, 0)),
    ((0, -1), (0, 1), (1, 0), (-1, 0)),
    ((-1, 0), (1, 0), (0, 1), None),
    ((0, -2), (0, 2), None, None),
)


def config() -> Qwen2VLConfig:
    """The Hugging Face configuration."""
    rotary = {
        "type": "mrope", "rope_type": "default", "mrope_section": list(ROTARY_SECTIONS), "rope_theta": ROTARY_BASE,
    }  # fmt: skip
    text = {
        "vocab_size": vocabulary.SIZE, "hidden_size": TEXT_WIDTH, "intermediate_size": TEXT_HIDDEN,
        "num_hidden_layers": TEXT_DEPTH, "num_attention_heads": TEXT_HEADS, "num_key_value_heads": TEXT_GROUPS,
        "max_position_embeddings": CONTEXT, "rope_theta": ROTARY_BASE, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False, "rope_parameters": rotary, "rope_scaling": rotary,
        "bos_token_id": vocabulary.PAD, "eos_token_id": vocabulary.END, "pad_token_id": vocabulary.PAD,
    }  # fmt: skip
    vision = {
        "depth": VISION_DEPTH, "embed_dim": VISION_WIDTH, "hidden_size": TEXT_WIDTH, "num_heads": VISION_HEADS,
        "mlp_ratio": VISION_RATIO, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
        "in_channels": 3, "in_chans": 3,
    }  # fmt: skip
    return Qwen2VLConfig(
        text_config=text, vision_config=vision, image_token_id=vocabulary.IMAGE_PAD, video_token_id=vocabulary.VIDEO_PAD,
        vision_start_token_id=vocabulary.VISION_START, vision_end_token_id=vocabulary.VISION_END,
        vision_token_id=vocabulary.VISION_PAD, tie_word_embeddings=False, bos_token_id=vocabulary.PAD,
        eos_token_id=vocabulary.END,
    )  # fmt: skip


def new_model(seed: int = 0) -> Qwen2VLForConditionalGeneration:
    """The untrained network, float32; the same one for the same seed."""
    torch.manual_seed(seed)
    model = Qwen2VLForConditionalGeneration(config()).float()
    model.generation_config.eos_token_id = vocabulary.END
    model.generation_config.pad_token_id = vocabulary.PAD
    nn.init.normal_(model.model.language_model.embed_tokens.weight, std=0.02)
    point_heads(model.model.visual)
    return model


def new_label_heads() -> nn.Module:
    """Reads the per-patch truth off the vision tower; used in training only."""
    return nn.Sequential(nn.LayerNorm(VISION_WIDTH), nn.Linear(VISION_WIDTH, sum(LABEL_SIZES)))


def point_heads(visual: nn.Module, coarse: float = 4.5, fine: float = 3.2) -> None:
    """Set query and key biases so that a head starts by looking at one neighbour (its score falls off as a cosine)."""
    width, half = VISION_WIDTH, HEAD_WIDTH // 2
    for block, looks in zip(visual.blocks, FIRST_LOOKS, strict=True):
        bias = block.attn.qkv.bias.data
        for head, look in enumerate(looks):
            if look is None:
                continue
            query, key = head * HEAD_WIDTH, width + head * HEAD_WIDTH
            for axis, offset in enumerate(look):
                for index, strength in enumerate((coarse, fine)):
                    angle = ROTARY_BASE ** (-index / (half // 2)) * offset
                    at = axis * (half // 2) + index
                    bias[query + at] = strength * math.cos(angle)
                    bias[query + at + half] = strength * math.sin(angle)
                    bias[key + at], bias[key + at + half] = strength, 0.0


@torch.no_grad()
def whiten_patches(visual: nn.Module, patches: torch.Tensor) -> None:
    """Start the patch embedding at the whitened principal components of `patches` [N, 588]: it sees edges at once."""
    covariance = patches.T @ patches / len(patches)
    values, vectors = torch.linalg.eigh(covariance)
    top = vectors[:, -VISION_WIDTH:].flip(1) / (values[-VISION_WIDTH:].flip(0) + 0.02).sqrt()
    # Both temporal slices see the same picture, and their sums add up.
    weight = (top.T / 2).reshape(VISION_WIDTH, 3, 1, 14, 14).expand(-1, -1, 2, -1, -1)
    visual.patch_embed.proj.weight.copy_(weight)
