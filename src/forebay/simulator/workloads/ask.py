"""One thing that a client asks for, before it is a request: sizes, identities of media, and what will be answered."""

import random
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from forebay.domain.ability import Ability

PATCHES_PER_TOKEN = 4
"""Qwen3-VL merges 2 x 2 patches of 16 x 16 pixels into a token."""


class Medium(NamedTuple):
    """A picture or a sound. `identity` is that of its bytes, above 0: equal ones are the same medium."""

    modality: Ability
    tokens: int
    identity: int

    @property
    def patches(self) -> int:
        """What an encoder reads. A sound is taken to cost what a picture of as many tokens does: a declared simplification."""
        return PATCHES_PER_TOKEN * self.tokens


class Block(NamedTuple):
    """A part of a prompt that other prompts may begin with too: its identity, above 0, and its tokens."""

    identity: int
    tokens: int


class Ask(NamedTuple):
    """`text_tokens` and `output_tokens` are true counts; `after_seconds` is the time since the ask before it, as recorded.

    `shared` are the blocks that the text begins with, and count in `text_tokens`.
    """

    text_tokens: int
    output_tokens: int
    media: tuple[Medium, ...] = ()
    shared: tuple[Block, ...] = ()
    after_seconds: float = 1.0


class Workload(Protocol):
    """A kind of clients, with its parameters."""

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Asks without end, in the order of their coming. All chance is `rng`'s."""
        ...
