"""Batched forwards over the Hugging Face modules: the same numbers as theirs, at a fraction of the overhead.

One sequence holds one prefix (with its pictures) and several questions that do not see each other, so that a picture
is paid for once.
"""

from functools import cache

import torch
import torch.nn.functional as F  # noqa: N812  (the name that the library's own documents use)
from torch import Tensor, nn

from tinyvlm.architecture import HEAD_WIDTH, IMAGE_MEAN, IMAGE_STD, ROTARY_BASE, ROTARY_SECTIONS

_MEAN, _STD = torch.tensor(IMAGE_MEAN), torch.tensor(IMAGE_STD)


def to_patches(pictures: Tensor) -> Tensor:
    """uint8 [B, H, W, 3] to normalised patches [B, N, 588], each 2 x 2 block together as the merger wants them."""
    x = ((pictures.float() / 255 - _MEAN) / _STD).permute(0, 3, 1, 2)
    count, _, height, width = x.shape
    rows, columns = height // 28, width // 28
    x = x.reshape(count, 3, rows, 2, 14, columns, 2, 14).permute(0, 2, 5, 3, 6, 1, 4, 7)
    return x.reshape(count, rows * columns * 4, 588)


def to_blocks(grid: Tensor) -> Tensor:
    """Per-patch values [B, rows, columns, k] in the order of `to_patches`, [B, N, k]."""
    count, rows, columns, k = grid.shape
    x = grid.reshape(count, rows // 2, 2, columns // 2, 2, k).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(count, rows * columns, k)


def see(visual: nn.Module, patches: Tensor, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """The vision tower: states of the patches [B, N, E] and image tokens [B, N/4, D]."""
    weight = visual.patch_embed.proj.weight
    width = weight.shape[0]
    x = F.linear(patches, weight.sum(2).reshape(width, -1))
    count, length, _ = x.shape
    cos, sin = _grid_rotation(rows, columns)
    for block in visual.blocks:
        q, k, v = block.attn.qkv(block.norm1(x)).view(count, length, 3, -1, HEAD_WIDTH).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(_rotate(q, cos, sin), _rotate(k, cos, sin), v)
        x = x + block.attn.proj(mixed.transpose(1, 2).reshape(count, length, width))
        x = x + block.mlp(block.norm2(x))
    return x, visual.merger(x.reshape(count * length, width)).view(count, length // 4, -1)


def read(language: nn.Module, x: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
    """The decoder over embeddings [B, T, D], positions [3, B, T] and a boolean mask [B, 1, T, T] of what may be seen."""
    count, length, width = x.shape
    cos, sin = _text_rotation(positions)
    for layer in language.layers:
        attention, states = layer.self_attn, _norm(layer.input_layernorm, x)
        q, k, v = (
            project(states).view(count, length, -1, HEAD_WIDTH).transpose(1, 2)
            for project in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        q, k = _rotate(q, cos, sin), _rotate(k, cos, sin)
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + attention.o_proj(mixed.transpose(1, 2).reshape(count, length, width))
        states = _norm(layer.post_attention_layernorm, x)
        x = x + layer.mlp.down_proj(F.silu(layer.mlp.gate_proj(states)) * layer.mlp.up_proj(states))
    return _norm(language.norm, x)


@cache
def _grid_rotation(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    grid = torch.stack(torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij"), -1)[None]
    places = to_blocks(grid)[0].float()
    half = HEAD_WIDTH // 2
    frequency = ROTARY_BASE ** (-torch.arange(0, half, 2).float() / half)
    angles = torch.cat([places[:, :1] * frequency, places[:, 1:] * frequency], 1).repeat(1, 2)
    return angles.cos(), angles.sin()


def _text_rotation(positions: Tensor) -> tuple[Tensor, Tensor]:
    frequency = ROTARY_BASE ** (-torch.arange(0, HEAD_WIDTH, 2).float() / HEAD_WIDTH)
    parts = (positions.float()[..., None] * frequency).split(ROTARY_SECTIONS, -1)
    angles = torch.cat([part[axis] for axis, part in enumerate(parts)], -1).repeat(1, 1, 2)[:, None]
    return angles.cos(), angles.sin()


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def _norm(module: nn.Module, x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), module.weight, module.variance_epsilon)
