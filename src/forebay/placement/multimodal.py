"""The `multimodal` profile: three costs of each endpoint for this request, in seconds on one scale; least wins."""

from forebay.domain.bounds import Positive, Weight
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.pickers.extreme import Least
from forebay.placement.profile import Profile
from forebay.placement.scorers.communication import Communication
from forebay.placement.scorers.decode import DecodeSensitivity
from forebay.placement.scorers.visual import VisualThroughput
from forebay.placement.weighted import Weighted


class MultimodalSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """Weights of the three terms, each of which is in seconds. The defaults are the mission's.

    `view_trust_seconds` is the age at which what was scraped of strangers' requests counts half: two scrapes of 500 ms.
    """

    visual: Weight = 0.40
    decode: Weight = 0.35
    communication: Weight = 0.25
    view_trust_seconds: Positive = 1.0


def multimodal(settings: MultimodalSettings) -> Profile:
    """The profile."""
    return Profile(
        name="multimodal",
        filters=common_filters(settings),
        scorers=(
            Weighted(VisualThroughput(settings.view_trust_seconds), settings.visual),
            Weighted(DecodeSensitivity(settings.view_trust_seconds), settings.decode),
            Weighted(Communication(), settings.communication),
        ),
        picker=Least(),
    )
