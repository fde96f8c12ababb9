"""A scorer with its place in a profile, and the error of one that gives no number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from forebay.domain.placement import ScorerTrace
from forebay.placement.protocols import Scorer, Unsure
from forebay.placement.scales import Scale, as_is


class ScoreError(ValueError):
    """A scorer gave a number that is not finite. The message names the scorer, the endpoint's slot and the number."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """A scorer, its weight in the total, and the scale that its raw scores are put on first.

    `unsure` is the scorer again if it may lack a part of its score, else None.
    """

    scorer: Scorer
    weight: float
    scale: Scale = as_is
    unsure: Unsure | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "unsure", self.scorer if isinstance(self.scorer, Unsure) else None)

    def trace(self, values: Sequence[float], unknown: Sequence[int]) -> ScorerTrace:
        """What this scorer said, for the record."""
        scorer = self.scorer
        return ScorerTrace(scorer.name, self.weight, scorer.unit, values, tuple(unknown))


def not_finite(slots: Sequence[int], traces: Sequence[ScorerTrace]) -> ScoreError:
    """The error for totals that are not all finite: it names the first scorer at fault."""
    for trace in traces:
        for slot, value in zip(slots, trace.values, strict=True):
            if not math.isfinite(value):
                return ScoreError(
                    f"scorer {trace.name}: {value} for slot {slot} is not a finite number of {trace.unit}"
                )
    return ScoreError("the scores are finite, but their weighted sum is not: a weight is too large")
