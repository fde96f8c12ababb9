"""Azure's traces of 2023: a service for conversation, and one for code. Sizes and times of each request, without text."""

import random
from collections.abc import Iterator
from typing import Literal

import msgspec

from forebay.simulator.workloads.ask import Ask
from forebay.simulator.workloads.samples import sample


class Row(msgspec.Struct, frozen=True, array_like=True):
    """Milliseconds since the row before, tokens of the prompt, tokens of the answer."""

    after_ms: int
    context_tokens: int
    generated_tokens: int


class AzureText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows of one trace.

    `shuffled` draws rows at random, so that seeds differ as much as they can; `recorded` keeps their order, from a random one on.
    """

    trace: Literal["conversation", "code"] = "conversation"
    order: Literal["shuffled", "recorded"] = "shuffled"

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Rows without end; the recorded ones begin anew behind the last."""
        rows = sample(f"azure-{self.trace}.json", list[Row])
        at = rng.randrange(len(rows))
        while True:
            row = rows[at]
            yield Ask(
                text_tokens=max(1, row.context_tokens),
                output_tokens=max(1, row.generated_tokens),
                after_seconds=row.after_ms / 1e3,
            )
            at = (at + 1) % len(rows) if self.order == "recorded" else rng.randrange(len(rows))
