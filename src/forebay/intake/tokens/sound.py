"""What families that hear share: samples from a length, and a price for a length that is not known."""

import msgspec

from forebay.intake.tokens.family import MICROSECONDS, MediaCost


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


def halved_twice(mel_frames: int) -> int:
    """Tokens that Qwen2's audio towers make of mel frames: a convolution halves them, and pooling halves them again."""
    return ((mel_frames - 1) // 2 + 1 - 2) // 2 + 1
