"""Request bodies of the benchmark: real JSON, and real PNG files of noise, so that nothing compresses or repeats."""

import base64
import json
import random
import struct
import zlib
from typing import Any

from forebay.testing.bench.wire import MODEL

_WORDS = (
    "the",
    "flow",
    "of",
    "water",
    "over",
    "a",
    "wide",
    "weir",
    "was",
    "measured",
    "and",
    "written",
    "down",
    "by",
    "hand",
)


def png(side: int, rng: random.Random) -> bytes:
    """A square RGB PNG of noise: `side` pixels a side, about 3 x side^2 bytes, stored without compression."""
    row_bytes = 3 * side
    rows = b"".join(b"\0" + rng.randbytes(row_bytes) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(kind, data) for kind, data in parts)


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def text_body(size_bytes: int, rng: random.Random, **fields: Any) -> bytes:
    """A chat completion with one text message, `size_bytes` long (plus or minus a word)."""
    words: list[str] = []
    room = size_bytes - len(_body("", fields))
    while sum(map(len, words)) + len(words) < room:
        words.append(rng.choice(_WORDS))
    return _body(" ".join(words), fields)


def image_body(side: int, rng: random.Random, **fields: Any) -> bytes:
    """A chat completion with a line of text and one PNG of `side` pixels a side, as a base64 data URL."""
    url = "data:image/png;base64," + base64.b64encode(png(side, rng)).decode()
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "What is in this picture?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    return _body(parts, fields)


def _body(content: str | list[dict[str, Any]], fields: dict[str, Any]) -> bytes:
    """JSON as the `openai` client writes it: compact, with non-ASCII characters kept."""
    message = {"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
