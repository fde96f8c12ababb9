"""Chained hashes of a prompt's first blocks: two prompts that share the first k hashes begin alike."""

from collections.abc import Sequence
from typing import NamedTuple

import xxhash

# About 64 tokens of English, four blocks of vLLM's default cache.
BLOCK_BYTES = 256
BLOCK_TOKENS = BLOCK_BYTES // 4
# 16 KiB of text. Longer common beginnings are told apart no better by more hashes.
MAX_BLOCKS = 64
_HASH_BYTES = 16


class Medium(NamedTuple):
    """A medium, or a run of token ids, in a prompt: its 128-bit hash, and the tokens that it takes."""

    content_hash: int
    tokens: int


class Prefix(NamedTuple):
    """Hashes of the first blocks, and how many tokens the prompt has up to the end of each, about."""

    blocks: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()


def prefix_of(segments: Sequence[str | Medium]) -> Prefix:
    """The prefix of a prompt, whose segments come in its order.

    A block is 256 bytes of text, or a medium with the text before it that fills no block of its own: so a few words
    that every prompt begins with are no block, and weigh nothing. The last text that is not full is left out, since
    what follows would change it.
    """
    chain = _Chain()
    run: list[str] = []
    for segment in segments:
        if isinstance(segment, str):
            run.append(segment)
            continue
        rest = chain.text("".join(run))
        run.clear()
        chain.block(rest + segment.content_hash.to_bytes(_HASH_BYTES), len(rest) // 4 + segment.tokens)
        if len(chain.blocks) >= MAX_BLOCKS:
            break
    else:
        chain.text("".join(run))
    return Prefix(tuple(chain.blocks), tuple(chain.tokens))


class _Chain:
    """Blocks so far; each hash is seeded by the one before."""

    __slots__ = ("_covered", "_seed", "blocks", "tokens")

    def __init__(self) -> None:
        self.blocks: list[int] = []
        self.tokens: list[int] = []
        self._seed = 0
        self._covered = 0

    def block(self, data: bytes, tokens: int) -> None:
        if len(self.blocks) < MAX_BLOCKS:
            self._seed = xxhash.xxh3_64_intdigest(data, self._seed)
            self._covered += tokens
            self.blocks.append(self._seed)
            self.tokens.append(self._covered)

    def text(self, text: str) -> bytes:
        """Take the full blocks of `text`, and return the rest."""
        room = (MAX_BLOCKS - len(self.blocks)) * BLOCK_BYTES
        data = text[:room].encode()[:room]
        end = len(data) - len(data) % BLOCK_BYTES
        seed, covered = self._seed, self._covered
        for at in range(0, end, BLOCK_BYTES):
            seed = xxhash.xxh3_64_intdigest(data[at : at + BLOCK_BYTES], seed)
            covered += BLOCK_TOKENS
            self.blocks.append(seed)
            self.tokens.append(covered)
        self._seed, self._covered = seed, covered
        return data[end:]
