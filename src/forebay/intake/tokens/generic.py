"""A model of no known family: configured rates, always approximate, never nothing."""

from typing import ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MICROSECONDS, MediaCost, Positive, PositiveFloat, Rules


class Generic(Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Defaults lie inside what known families charge: pictures 256 to 3,328 tokens, sound 6 to 25 tokens a second.

    A clip is two frames a second at 256 tokens each. `patches_per_token` is the merge of two by two that most have.
    """

    name: ClassVar[str] = "generic"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.AUDIO | Ability.VIDEO
    tokens_per_image: Positive = 1_024
    tokens_per_audio_second: PositiveFloat = 25.0
    tokens_per_video_second: PositiveFloat = 512.0
    patches_per_token: Positive = 4
    assumed_seconds: PositiveFloat = 30.0

    def image(self, width: int, height: int, frames: int = 1, orientation: int = 1) -> MediaCost:  # noqa: ARG002  the price knows no size
        """See Family."""
        return self._cost(self.tokens_per_image)

    def audio(self, duration_us: int) -> MediaCost:
        """See Family."""
        return self._cost(self._seconds(duration_us) * self.tokens_per_audio_second)

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost:  # noqa: ARG002  the price knows no size
        """See Family."""
        return self._cost(self._seconds(duration_us) * self.tokens_per_video_second)

    def _seconds(self, duration_us: int) -> float:
        return duration_us / MICROSECONDS if duration_us > 0 else self.assumed_seconds

    def _cost(self, tokens: float) -> MediaCost:
        whole = max(1, round(tokens))
        return MediaCost(whole, 0, whole * self.patches_per_token, exact=False)
