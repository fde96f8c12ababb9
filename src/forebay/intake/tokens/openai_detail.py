"""What OpenAI's models have in common, whether they count tiles or patches: the `detail` in which a picture is seen."""

from typing import Literal, get_args

import msgspec

from forebay.intake.tokens.family import Family, ImageRules, Positive

Detail = Literal["auto", "low", "high"]
DETAILS = frozenset(get_args(Detail))


class OpenAIPictures(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`detail` is how a picture is seen whose part does not say, and `max_side` what it is shrunk into first.

    `auto` leaves it to the model; it is priced as `high`, and not exact.
    """

    detail: Detail = "auto"
    max_side: Positive = 2_048

    def detailed(self, detail: str) -> Family:
        """See Family. What this model does not know is not looked at."""
        return msgspec.structs.replace(self, detail=detail) if detail in DETAILS else self


def shrunk(width: int, height: int, scale: float) -> tuple[int, int]:
    """Both sides scaled and rounded, at least one pixel. A scale above 1 leaves them as they are."""
    if scale >= 1:
        return width, height
    return max(1, round(width * scale)), max(1, round(height * scale))
