"""What a served model's files say reaches the prices of a running gateway, and stays when the engine is found out."""

import json
import struct
import zlib

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine, reply

from .words import answer, eventually, image, parts, refusal

WRAPPER_TOKENS = 2
FILES = {
    "config.json": {"model_type": "qwen2_vl"},
    "preprocessor_config.json": {"patch_size": 28},
}


def png(width, height):
    """A picture's header, which is all that a price needs."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def looks_like_llamacpp():
    props = {"modalities": {"vision": True}, "default_generation_settings": {"n_ctx": 8192}}
    return ScriptedEngine(
        lambda request: [refusal("400 Bad Request")] if request.body == b"{}" else [answer()],
        pages={
            "/props": reply(json.dumps(props).encode()),
            "/metrics": reply(b"llamacpp:requests_processing 0\n"),
        },
    )


async def test_the_files_are_priced_by_and_outlive_the_finding_of_the_engine(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(json.dumps(content))
    async with looks_like_llamacpp() as engine:
        pools = [{"model": "m", "preprocessor_config": str(tmp_path), "endpoints": [{"url": engine.url}]}]
        async with LiveGateway(pools=pools) as gateway:
            await eventually(
                lambda: [row.view.engine for row in gateway.station.rows() if row.view] == ["llama.cpp"], 30
            )
            body = parts({"type": "text", "text": "what is this?"}, image(png(140, 140)))
            assert (await gateway.post(body, headers={"x-request-id": "d"})).status == 200
            demand = (await gateway.story("d"))["demand"]
            # 2.5 cells of 56 pixels are 3 to llama.cpp and 2 to transformers. They are 56 by the files, and else 28.
            assert (demand["image_tokens"], demand["exact"]) == (3 * 3 + WRAPPER_TOKENS, True)
