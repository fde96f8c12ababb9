"""Chained hashes of a prompt's first blocks: two prompts that share the first k hashes begin alike."""

from collections.abc import Sequence

import xxhash

# About 64 tokens of English, four blocks of vLLM's default cache.
BLOCK_BYTES = 256
# 16 KiB of text. Longer common beginnings are told apart no better by more hashes.
MAX_BLOCKS = 64
_HASH_BYTES = 16


def prefix_blocks(segments: Sequence[str | int]) -> tuple[int, ...]:
    """Hashes of a prompt in order: texts, and media by their 128-bit hashes.

    A medium is a block by itself and closes the text block before it. A last block of text that is not full is left
    out: what follows would change it.
    """
    blocks: list[int] = []
    run: list[str] = []
    seed = 0
    for segment in segments:
        if isinstance(segment, str):
            run.append(segment)
            continue
        seed = _chain_text(blocks, seed, "".join(run), closed=True)
        run.clear()
        seed = xxhash.xxh3_64_intdigest(segment.to_bytes(_HASH_BYTES), seed)
        blocks.append(seed)
        if len(blocks) >= MAX_BLOCKS:
            return tuple(blocks[:MAX_BLOCKS])
    _chain_text(blocks, seed, "".join(run), closed=False)
    return tuple(blocks[:MAX_BLOCKS])


def _chain_text(blocks: list[int], seed: int, text: str, *, closed: bool) -> int:
    room = (MAX_BLOCKS - len(blocks)) * BLOCK_BYTES
    data = text[:room].encode()[:room]
    digest = xxhash.xxh3_64_intdigest
    end = len(data) if closed else len(data) - BLOCK_BYTES + 1
    for at in range(0, end, BLOCK_BYTES):
        seed = digest(data[at : at + BLOCK_BYTES], seed)
        blocks.append(seed)
    return seed
