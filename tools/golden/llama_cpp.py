"""Write tests/golden/engines/llama.cpp.json: what a real llama.cpp server counts for pictures, family by family.

Its models are random and of one layer: the preprocessing, the marks and the counting are those of any model of the family.
Run in the development environment: `python tools/golden/llama_cpp.py [FAMILY...]`. About a minute.
"""

import argparse
import base64
import contextlib
import importlib.metadata
import io
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import gguf
import numpy as np
from PIL import Image

from forebay.testing.engines import gguf_models

TARGET = Path(__file__).resolve().parents[2] / "tests" / "golden" / "engines" / "llama.cpp.json"
PORT = 18_975
WIDTH, FEED_FORWARD = gguf_models.WIDTH, gguf_models.FEED_FORWARD
# 600 across 14, 40 high and single pixels reach the least bounds, and 1080p the greatest.
SIZES = [(224, 224), (640, 480), (1024, 1024), (1920, 1080), (300, 200), (14, 600), (98, 98), (3000, 40), (1, 1), (35, 77)]  # fmt: skip
TILED_SIZES = [*SIZES, (336, 336), (337, 336), (672, 672), (1000, 300), (512, 512), (2048, 1025)]


def block(weights, *, plain=False):
    """One layer: with biases and layer norms, or `plain` with neither, and a gate."""
    for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
        weights.linear(f"v.blk.0.{name}", WIDTH, WIDTH, bias=not plain)
    for name in ("ln1", "ln2"):
        weights.norm(f"v.blk.0.{name}", bias=not plain)
    if plain:
        weights.linear("v.blk.0.ffn_gate", FEED_FORWARD, WIDTH, bias=False)
    weights.linear("v.blk.0.ffn_up", FEED_FORWARD, WIDTH, bias=not plain)
    weights.linear("v.blk.0.ffn_down", WIDTH, FEED_FORWARD, bias=not plain)


def zeros(weights, name, length=WIDTH):
    weights.add(name, np.zeros(length, np.float32))


def pixtral(weights, merge=1):
    weights.matrix("v.patch_embd.weight", WIDTH, 3, 14 if merge > 1 else 16, 14 if merge > 1 else 16)
    weights.norm("v.pre_ln")
    block(weights, plain=True)
    weights.linear("mm.1", WIDTH, WIDTH, bias=False)
    weights.linear("mm.2", WIDTH, WIDTH, bias=False)
    zeros(weights, "v.token_embd.img_break")
    if merge > 1:
        weights.norm("mm.input_norm")
        weights.matrix("mm.patch_merger.weight", WIDTH, WIDTH * merge**2)


def mistral_3(weights):
    pixtral(weights, merge=2)


def kimi(weights):
    weights.matrix("v.patch_embd.weight", WIDTH, 3, 14, 14)
    zeros(weights, "v.patch_embd.bias")
    weights.matrix("v.position_embd.weight", 64 * 64, WIDTH)
    block(weights)
    weights.norm("v.post_ln", bias=True)
    weights.norm("mm.input_norm", bias=True)
    weights.linear("mm.1", WIDTH * 4, WIDTH * 4)
    weights.linear("mm.2", WIDTH, WIDTH * 4)


def gemma_4(weights):
    weights.matrix("v.patch_embd.weight", WIDTH, 3, 16, 16)
    weights.matrix("v.position_embd.weight", 2, 2_048, WIDTH)
    block(weights, plain=True)
    weights.matrix("mm.input_projection.weight", WIDTH, WIDTH)


def smolvlm(weights):
    weights.matrix("v.patch_embd.weight", WIDTH, 3, 16, 16)
    zeros(weights, "v.patch_embd.bias")
    weights.matrix("v.position_embd.weight", 32 * 32, WIDTH)
    block(weights)
    weights.norm("v.post_ln", bias=True)
    weights.matrix("mm.model.fc.weight", WIDTH, WIDTH * 16)


def clip(weights, *patch):
    weights.matrix("v.patch_embd.weight", WIDTH, *patch)
    zeros(weights, "v.class_embd")
    weights.matrix("v.position_embd.weight", 24 * 24 + 1, WIDTH)
    weights.norm("v.pre_ln", bias=True)
    block(weights)


def llama_4(weights):
    clip(weights, 3 * 14 * 14)
    weights.norm("v.post_ln", bias=True)
    weights.matrix("mm.model.mlp.1.weight", WIDTH * 2, WIDTH * 4)
    weights.matrix("mm.model.mlp.2.weight", WIDTH, WIDTH * 2)
    weights.matrix("mm.model.fc.weight", WIDTH, WIDTH)


def llava_next(weights):
    clip(weights, 3, 14, 14)
    weights.linear("mm.0", WIDTH, WIDTH)
    weights.linear("mm.2", WIDTH, WIDTH)


def internvl(weights):
    weights.matrix("v.patch_embd.weight", WIDTH, 3, 14, 14)
    zeros(weights, "v.patch_embd.bias")
    zeros(weights, "v.class_embd")
    weights.matrix("v.position_embd.weight", 32 * 32 + 1, WIDTH)
    block(weights)
    for name in ("weight", "bias"):
        zeros(weights, f"mm.model.mlp.0.{name}", WIDTH * 4)
    weights.linear("mm.model.mlp.1", WIDTH, WIDTH * 4)
    weights.linear("mm.model.mlp.3", WIDTH, WIDTH)


TILE_MARKS = [f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]
PINPOINTS = [336, 672, 672, 336, 672, 672, 1008, 336, 336, 1008]
# Family -> its projector there, its tensors, its numbers, the special tokens that stand around a picture, and sizes.
FAMILIES = {
    "pixtral": ("pixtral", pixtral, {"image_size": 1_024, "patch_size": 16}, ["[IMG_END]"], SIZES),
    "mistral-3": ("pixtral", mistral_3, {"image_size": 1_540, "patch_size": 14, "spatial_merge_size": 2}, ["[IMG_END]"], SIZES),
    "kimi-vl": ("kimivl", kimi, {"image_size": 896, "patch_size": 14, "projector.scale_factor": 2}, ["<|media_start|>", "<|media_end|>"], SIZES),
    "kimi-k2.5": ("kimik25", kimi, {"image_size": 896, "patch_size": 14, "projector.scale_factor": 2}, ["<|media_begin|>", "<|media_end|>"], SIZES),
    "gemma-4": ("gemma4v", gemma_4, {"image_size": 768, "patch_size": 16, "projector.scale_factor": 3}, ["<|image>", "<image|>"], SIZES),
    "smolvlm-500m": ("idefics3", smolvlm, {"image_size": 512, "patch_size": 16, "projector.scale_factor": 4, "preproc_image_size": 2_048}, ["<fake_token_around_image>", "<global-img>", "\n", "\n\n", *TILE_MARKS], TILED_SIZES),
    "llama-4": ("llama4", llama_4, {"image_size": 336, "patch_size": 14, "projector.scale_factor": 2}, ["<|image_start|>", "<|image_end|>"], TILED_SIZES),
    "internvl": ("internvl", internvl, {"image_size": 448, "patch_size": 14, "projector.scale_factor": 2}, ["<img>", "</img>"], TILED_SIZES),
    "llava-1.5": ("mlp", llava_next, {"image_size": 336, "patch_size": 14}, [], SIZES),
    "llava-next": ("mlp", llava_next, {"image_size": 336, "patch_size": 14, "image_grid_pinpoints": PINPOINTS}, [], TILED_SIZES),
}  # fmt: skip


def write_projector(path, projector, fill, numbers):
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_name("tiny-random")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_bool("clip.use_gelu", True)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", projector)
    common = {
        "embedding_length": WIDTH, "feed_forward_length": FEED_FORWARD, "projection_dim": WIDTH, "block_count": 1,
        "attention.head_count": gguf_models.HEADS,
    }  # fmt: skip
    for key, value in (common | numbers).items():
        (writer.add_array if isinstance(value, list) else writer.add_uint32)(f"clip.vision.{key}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    for key in ("image_mean", "image_std"):
        writer.add_array(f"clip.vision.{key}", [0.5, 0.5, 0.5])
    fill(gguf_models._Weights(writer, seed=1))  # noqa: SLF001  the same random models, seen
    gguf_models._finish(writer)  # noqa: SLF001


def write_language(path, specials):
    usual = gguf_models.SPECIAL
    gguf_models.SPECIAL = (*usual, *specials)
    gguf_models._language_model(path)  # noqa: SLF001
    gguf_models.SPECIAL = usual


@contextlib.contextmanager
def served(folder):
    command = [sys.executable, "-m", "forebay.testing.engines.llamacpp", "--port", str(PORT), "--parallel", "1", "--ctx", "8192",
               "--model", f"{folder}/language.gguf", "--mmproj", f"{folder}/projector.gguf"]  # fmt: skip
    with (
        Path(folder, "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as engine,
    ):
        try:
            wait(engine, Path(folder, "log"))
            yield
        finally:
            engine.terminate()


def wait(engine, log):
    for _ in range(150):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health"):
            return
        if engine.poll() is not None:
            break
        time.sleep(0.2)
    raise SystemExit(log.read_text()[-2_000:])


def prompt_tokens(*parts):
    content = [{"type": "text", "text": "the word"}, *parts]
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:  # noqa: S310  of this machine
        return json.load(reply)["usage"]["prompt_tokens"]


def picture(width, height):
    file = io.BytesIO()
    Image.new("RGB", (width, height), "olive").save(file, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def counted(family):
    projector, fill, numbers, specials, sizes = FAMILIES[family]
    with tempfile.TemporaryDirectory() as folder:
        write_language(f"{folder}/language.gguf", specials)
        write_projector(f"{folder}/projector.gguf", projector, fill, numbers)
        with served(folder):
            text = prompt_tokens()
            return [[*size, prompt_tokens(picture(*size)) - text] for size in sizes]


def main():
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("family", nargs="*", choices=[[], *FAMILIES])
    wanted = command.parse_args().family or list(FAMILIES)
    known = json.loads(TARGET.read_text())["families"] if TARGET.exists() else {}
    for family in wanted:
        known[family] = counted(family)
        print(family, len(known[family]))
    rows = ",\n".join(f"  {json.dumps(family)}: {json.dumps(known[family])}" for family in sorted(known))
    version = importlib.metadata.version("xllamacpp")
    TARGET.write_text(
        f'{{\n "xllamacpp": "{version}",\n "columns": "width,height,prompt_tokens",\n "families": {{\n{rows}\n }}\n}}\n'
    )


if __name__ == "__main__":
    main()
