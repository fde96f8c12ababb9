"""A decision and its numbers, so that it can be read back."""

from collections.abc import Sequence

import msgspec


class FilterTrace(msgspec.Struct, frozen=True, gc=False):
    """What one filter removed: its name, and the slots that it dropped."""

    name: str
    dropped: tuple[int, ...]


class ScorerTrace(msgspec.Struct, frozen=True, gc=False):
    """What one scorer said: `unit` of the raw `values`, one per candidate in the order of `Placement.candidates`."""

    name: str
    weight: float
    unit: str
    values: Sequence[float]
    unknown: tuple[int, ...] = ()  # slots for which a part of the score is not known and was left out


class Placement(msgspec.Struct, frozen=True, gc=False):
    """Where a request goes, and why. `slot` is None when no endpoint was left.

    `totals` are the weighted sums; `least_wins` tells which end of the scale was chosen.
    """

    slot: int | None
    profile: str
    candidates: Sequence[int] = ()
    filters: tuple[FilterTrace, ...] = ()
    scorers: tuple[ScorerTrace, ...] = ()
    totals: Sequence[float] = ()
    least_wins: bool = True


class Decision(msgspec.Struct, frozen=True, gc=False):
    """One placement of one attempt, with all that is needed to explain it. `endpoints` names the slots spoken of."""

    request_id: str
    at: int
    try_: int
    model: str
    pool: str
    prompt_tokens: int
    text_tokens: int
    image_tokens: int
    audio_tokens: int
    video_tokens: int
    encoder_patches: int
    expected_output_tokens: int
    exact: bool
    placement: Placement
    endpoints: dict[int, str]
