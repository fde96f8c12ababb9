"""Mooncake's conversation trace (Kimi): sizes, times, and which blocks of 512 tokens prompts begin with, so that reuse is real."""

import random
from collections.abc import Iterator

import msgspec

from forebay.domain.bounds import AtLeastOne
from forebay.simulator.workloads.ask import Ask, Block
from forebay.simulator.workloads.samples import sample

BLOCK_TOKENS = 512


class Run(msgspec.Struct, frozen=True, array_like=True):
    """`count` blocks whose numbers follow each other from `first` on."""

    first: int
    count: int


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One request of the trace."""

    after_ms: int
    input_tokens: int
    output_tokens: int
    runs: tuple[Run, ...]


class Mooncake(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The trace in its order, as reuse is a matter of order, from a random row on. Longer prompts keep their beginning."""

    most_context_tokens: AtLeastOne = 32_000

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Rows without end. Where the trace begins anew its blocks are other ones: nobody said that again."""
        rows = sample("mooncake.json", list[Row])
        blocks = 1 + max(run.first + run.count for row in rows for run in row.runs)
        at, first = rng.randrange(len(rows)), 1 + rng.getrandbits(40)
        while True:
            row = rows[at]
            text = min(row.input_tokens, self.most_context_tokens)
            yield Ask(
                text_tokens=max(1, text),
                output_tokens=max(1, row.output_tokens),
                shared=_blocks(row.runs, first, text),
                after_seconds=row.after_ms / 1e3,
            )
            at += 1
            if at == len(rows):
                at, first = 0, first + blocks


def _blocks(runs: tuple[Run, ...], first: int, tokens: int) -> tuple[Block, ...]:
    """The blocks of which all tokens belong to the prompt."""
    numbers = (run.first + ahead for run in runs for ahead in range(run.count))
    return tuple(
        Block(first + number, BLOCK_TOKENS)
        for number, _ in zip(numbers, range(tokens // BLOCK_TOKENS), strict=False)
    )
