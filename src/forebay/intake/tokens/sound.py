"""What families that hear share: samples from a length, and a price for a length that is not known."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MICROSECONDS, MediaCost, Positive, PositiveFloat, Rules


class Hears:
    """Goes before the struct that a family extends, which then declares these two parameters and says `sound`.

    Engines resample to `sampling_rate` hertz first, so that a sound's own rate decides nothing. A sound of unknown length
    is priced as `assumed_seconds`, and not exact.
    """

    __slots__ = ()
    sampling_rate: int
    assumed_seconds: float

    def audio(self, duration_us: int) -> MediaCost:
        """Price of a sound; see Family."""
        known = duration_us > 0
        length_us = duration_us if known else int(self.assumed_seconds * MICROSECONDS)
        cost = self.sound(max(1, -(-length_us * self.sampling_rate // MICROSECONDS)))
        return cost if known else msgspec.structs.replace(cost, exact=False)

    def sound(self, samples: int) -> MediaCost:
        """Price of at least one sample. Each family says."""
        raise NotImplementedError


class HearsByWindows(Hears, Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Families behind Whisper's feature extractor: sound is filled up with silence to whole windows of mel frames."""

    abilities: ClassVar[Ability] = Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "window_seconds": ("chunk_length",),
        "sampling_rate": ("sampling_rate",),
        "hop_length": ("hop_length",),
    }
    window_seconds: Positive = 30
    sampling_rate: Positive = 16_000
    hop_length: Positive = 160
    assumed_seconds: PositiveFloat = 30.0

    def windows(self, samples: int) -> int:
        """Windows that have begun."""
        return -(-samples // (self.window_seconds * self.sampling_rate))

    def window_frames(self) -> int:
        """Mel frames of a window."""
        return self.window_seconds * self.sampling_rate // self.hop_length


def halved_twice(mel_frames: int) -> int:
    """Tokens that Qwen2's audio towers make of mel frames: a convolution halves them, and pooling halves them again."""
    return ((mel_frames - 1) // 2 + 1 - 2) // 2 + 1
