"""A visit of the simulator as the body that a client sends, and back: what a gateway and an engine read in that body."""

import base64
import hashlib
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from forebay.config.errors import ConfigError
from forebay.domain.ability import Ability
from forebay.domain.request import Api, InferenceRequest, MediaItem
from forebay.intake.tokens.family import Family
from forebay.intake.tokens.registry import build
from forebay.simulator.visits import Visit
from forebay.simulator.workloads.requests import BYTES_PER_TOKEN, MODEL
from forebay.testing.modelled.reading import read

FAMILY: dict[str, Any] = {"name": "qwen3-vl", "min_pixels": 32 * 32}
"""The token rules of both sides: a workload's small pictures stay as small as it says."""
CELL = 32
WIDEST = 4.0
"""Sides of a picture, at most: a workload says only how many tokens it takes."""


def family() -> Family:
    """FAMILY's rules."""
    return build(FAMILY["name"], {"min_pixels": FAMILY["min_pixels"]})


def body_of(visit: Visit) -> bytes:
    """A streamed chat of the visit's sizes. Equal beginnings and pictures of two visits are equal bytes. Raises ConfigError."""
    request = visit.request
    parts: list[dict[str, object]] = [{"type": "text", "text": _text(visit)}]
    parts += [
        {"type": "image_url", "image_url": {"url": _picture(item)}} for item in map(_checked, request.media)
    ]
    return msgspec.json.encode(
        {
            "model": MODEL,
            "messages": [{"role": "user", "content": parts}],
            "stream": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
            "modelled_output_tokens": visit.output_tokens,
        }
    )


def read_back(visit: Visit, body: bytes, rules: Family, at: float) -> Visit:
    """The visit as it is on the wire: what the gateway's intake knows, and what a modelled engine finds."""
    asked = read(Api.CHAT, body, rules, visit.request.request_id)
    return Visit(at, asked.request, asked.prompt_tokens, asked.output_tokens, tuple(asked.patches))


def _text(visit: Visit) -> str:
    request = visit.request
    shared = "".join(_words(b"%d" % block, tokens) for block, tokens in _blocks(visit))
    left = request.text.ascii_bytes // BYTES_PER_TOKEN - len(shared) // BYTES_PER_TOKEN
    return shared + _words(_own(request), max(0, left))


def _own(request: InferenceRequest) -> bytes:
    """What no other visit of any run shares: its number, and its last block, which is of its own or its pictures'."""
    return f"{request.request_id} {request.prefix_blocks[-1:]}".encode()


def _blocks(visit: Visit) -> Iterator[tuple[int, int]]:
    """Shared blocks and their tokens. Each is chained to those before it."""
    before = 0
    for block, end in zip(visit.blocks or (), visit.block_ends, strict=True):
        yield block, end - before
        before = end


def _words(seed: bytes, tokens: int) -> str:
    return hashlib.shake_128(seed).hexdigest(BYTES_PER_TOKEN // 2 * tokens)


def _checked(item: MediaItem) -> MediaItem:
    if item.modality is not Ability.IMAGE:
        raise ConfigError("bench live", "the workload has sound", "take one with text and pictures only")
    return item


def sides(tokens: int) -> tuple[int, int]:
    """Columns and rows of a picture of so many tokens, or of the next number that makes no narrower one than WIDEST."""
    rows = next((rows for rows in range(math.isqrt(tokens), 0, -1) if tokens % rows == 0), 1)
    return (tokens // rows, rows) if tokens / rows / rows <= WIDEST else sides(tokens + 1)


def _picture(item: MediaItem) -> str:
    """A PNG that is all header: the size that counts, and whose it is."""
    columns, rows = sides(item.tokens)
    size = struct.pack(">IIBBBBB", columns * CELL, rows * CELL, 8, 2, 0, 0, 0)
    whose = b"Comment\0a modelled picture, %d" % item.content_hash
    data = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", size)
        + _chunk(b"tEXt", whose)
        + _chunk(b"IDAT", b"")
        + _chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
