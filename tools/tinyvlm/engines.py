"""Ask held-out questions of an engine, greedily: llama.cpp over HTTP, or transformers in process."""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tinyvlm.heldout import Item

ANSWER_TOKENS = 40
MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS = 8, 64
Ask = Callable[[Item], str]


def http_asker(url: str, model: str = "tinyvlm", system: str = "") -> Ask:
    """Ask an OpenAI-compatible engine at `url` (scheme, host and port)."""

    def ask(item: Item) -> str:
        parts: list[dict[str, object]] = [
            {"type": "image_url", "image_url": {"url": u}} for u in item.data_urls()
        ]
        user = {"role": "user", "content": [*parts, {"type": "text", "text": item.question}]}
        messages = [{"role": "system", "content": system}, user] if system else [user]
        body = {"model": model, "temperature": 0, "max_tokens": ANSWER_TOKENS, "messages": messages}
        request = urllib.request.Request(  # noqa: S310  (the caller's own engine)
            f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310  (as above)
            return str(json.load(reply)["choices"][0]["message"]["content"])

    return ask


def start_llama(model: Path, projector: Path, port: int) -> object:
    """llama.cpp's own HTTP server in this process; it lives as long as what is returned."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.mmproj.path = str(model), str(projector)
    params.mmproj_use_gpu, params.n_gpu_layers = False, 0
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = 2048, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.image_min_tokens, params.image_max_tokens = MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS
    params.use_jinja = True
    return xllamacpp.Server(params)


def transformers_asker(folder: Path, system: str = "") -> Ask:
    """Ask the Hugging Face layout in `folder` through transformers, float32 on one CPU thread."""
    import torch
    from PIL import Image
    from transformers import AutoTokenizer, Qwen2VLForConditionalGeneration
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    torch.set_num_threads(1)
    model = Qwen2VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer, look = AutoTokenizer.from_pretrained(folder), Qwen2VLImageProcessorPil.from_pretrained(folder)

    def ask(item: Item) -> str:
        content = [{"type": "image"} for _ in item.pictures] + [{"type": "text", "text": item.question}]
        messages = [{"role": "system", "content": system}] if system else []
        text = tokenizer.apply_chat_template(
            [*messages, {"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
        )
        seen = look([Image.fromarray(p) for p in item.pictures], return_tensors="pt") if item.pictures else {}
        head, *rest = text.split("<|image_pad|>")
        grids = [tuple(grid) for grid in seen["image_grid_thw"].tolist()] if seen else []
        pads = ["<|image_pad|>" * (rows * columns // 4) for _, rows, columns in grids]
        text = head + "".join(pad + part for pad, part in zip(pads, rest, strict=True))
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt").input_ids
        kinds = {"mm_token_type_ids": (ids == model.config.image_token_id).int()} if seen else {}
        with torch.no_grad():
            out = model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), **seen, **kinds,
                max_new_tokens=ANSWER_TOKENS, do_sample=False,
            )  # fmt: skip
        return str(tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True))

    return ask
