"""OpenAI's models that see pictures as patches of 32 pixels.

Source: the guide "Images and vision" at developers.openai.com, patch-based image tokenization. That the longest side is
fitted before patches are counted, and that each picture costs one token more, is read off published bills:
community.openai.com/t/1281361, /t/1262691 and /t/1230130.
"""

import math
from typing import ClassVar

from forebay.intake.tokens.family import MediaCost, Positive, PositiveFloat
from forebay.intake.tokens.openai_detail import OpenAIPictures, shrunk

WRAPPER_TOKENS = 1


class OpenAIPatches(OpenAIPictures, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`multiplier` tokens for each patch of a picture shrunk into 2,048 pixels, and then to at most `max_patches`.

    A picture of `low` `detail` is shrunk into `low_side`. `auto` leaves it to the model: it is priced as `high`, and not exact.
    """

    name: ClassVar[str] = "gpt-4.1-mini"
    multiplier: PositiveFloat = 1.62
    max_patches: Positive = 1_536
    patch_size: Positive = 32
    low_side: Positive = 512

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        fit = self.low_side if self.detail == "low" else self.max_side
        width, height = shrunk(width, height, fit / max(width, height))
        patches = self._patches(width, height)
        if patches > self.max_patches:
            patches = min(self.max_patches, self._patches(*self._fitted(width, height)))
        # Hundredths times a whole number, without what the binary fraction adds to it.
        tokens = math.ceil(round(patches * self.multiplier, 6))
        return MediaCost(tokens, WRAPPER_TOKENS, patches, exact=self.detail != "auto")

    def _patches(self, width: float, height: float) -> int:
        return math.ceil(width / self.patch_size) * math.ceil(height / self.patch_size)

    def _fitted(self, width: int, height: int) -> tuple[int, int]:
        """The sides scaled to the area of the most patches, and then until one of them is a whole number of patches."""
        scale = math.sqrt(self.patch_size**2 * self.max_patches / (width * height))
        columns, rows = width * scale / self.patch_size, height * scale / self.patch_size
        scale *= min(max(1, math.floor(columns)) / columns, max(1, math.floor(rows)) / rows)
        return max(1, int(width * scale)), max(1, int(height * scale))


class OpenAIPatchesNano(OpenAIPatches, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """GPT-4.1 nano and GPT-5 nano."""

    name: ClassVar[str] = "gpt-4.1-nano"
    multiplier: PositiveFloat = 2.46


class O4Mini(OpenAIPatches, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """o4-mini."""

    name: ClassVar[str] = "o4-mini"
    multiplier: PositiveFloat = 1.72
