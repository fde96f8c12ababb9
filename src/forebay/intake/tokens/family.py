"""What every family answers, and what families share."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Protocol

import msgspec

from forebay.domain.ability import Ability

Positive = Annotated[int, msgspec.Meta(ge=1)]
PositiveFloat = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]

MICROSECONDS = 1_000_000
# Orientations of EXIF that swap width and height.
TRANSPOSED = frozenset([5, 6, 7, 8])


class MediaCost(msgspec.Struct, frozen=True, gc=False):
    """The price of one item.

    `tokens` are placeholder tokens, without the marks around them, which are `wrapper_tokens`. `encoder_patches` is
    what the encoder reads: patches before merging, or audio positions. `exact` is False where a fallback was priced, or
    where text around the item depends on the tokenizer. `cross_attended` tokens fill cross-attention KV and no place in
    the sequence, so that engines do not report them as prompt tokens.
    """

    tokens: int
    wrapper_tokens: int = 0
    encoder_patches: int = 0
    exact: bool = True
    cross_attended: bool = False

    @property
    def prompt_tokens(self) -> int:
        """What an engine adds to its prompt tokens for this item, marks included."""
        return self.wrapper_tokens + (0 if self.cross_attended else self.tokens)


class Family(Protocol):
    """A model family's price list. None means that the family lacks that modality.

    Sizes are stored pixels and microseconds; 0 is unknown, and is priced by a fallback that is never 0.
    """

    name: ClassVar[str]
    abilities: ClassVar[Ability]

    def detailed(self, detail: str) -> "Family":
        """The price list for a picture whose part asks for this `detail` (`low`, `high`, `auto` ...)."""
        ...

    def image(self, width: int, height: int, frames: int = 1, orientation: int = 1) -> MediaCost | None:
        """Price of a picture. `frames` of an animation; `orientation` is EXIF 1..8."""
        ...

    def audio(self, duration_us: int) -> MediaCost | None:
        """Price of a sound."""
        ...

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost | None:
        """Price of a clip without its sound."""
        ...


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A family that takes nothing: the ground on which each one lays its own modalities."""

    name: ClassVar[str] = ""
    abilities: ClassVar[Ability] = Ability(0)
    # Our parameter -> where a preprocessor configuration keeps it, best place first. Dots step into objects, numbers into lists.
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    # The same for clips, which have a configuration of their own. A parameter of a parameter is written with a dot.
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    # Engine, as endpoints name theirs -> the parameters in which it departs from `transformers`.
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def detailed(self, detail: str) -> Family:  # noqa: ARG002  the shape of Family
        """Itself: open models, and the engines that serve them, do not look at `detail`."""
        return self

    def image(self, width: int, height: int, frames: int = 1, orientation: int = 1) -> MediaCost | None:  # noqa: ARG002  the shape of Family
        """None: no pictures."""
        return None

    def audio(self, duration_us: int) -> MediaCost | None:  # noqa: ARG002  the shape of Family
        """None: no sound."""
        return None

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost | None:  # noqa: ARG002  the shape of Family
        """None: no clips."""
        return None

    @classmethod
    def settings_of(cls, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters that this preprocessor_config.json (or processor_config.json) states. Unstated ones are left out."""
        found = {}
        for parameter, places in cls.configured_at.items():
            for place in places:
                value = look_up(configuration, place)
                if value is not None:
                    found[parameter] = value
                    break
        return found


def look_up(configuration: Any, place: str) -> Any:
    """What stands at `place` of a configuration, None for nothing. See `Rules.configured_at`."""
    for step in place.split("."):
        if isinstance(configuration, Mapping):
            configuration = configuration.get(step)
        elif isinstance(configuration, Sequence) and step.isdigit() and int(step) < len(configuration):
            configuration = configuration[int(step)]
        else:
            return None
    return configuration


class ImageRules(Rules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A family that sees pictures: all that does not depend on how it cuts them.

    `applies_exif` tells whether the engine turns a photo before it measures it; most load the stored pixels.
    `animation_frames` is how many frames of an animation the engine takes: loaders take the first. A picture of unknown
    size is priced as a square of `assumed_side`, a usual size after a client has scaled a photo down.
    """

    abilities: ClassVar[Ability] = Ability.IMAGE
    applies_exif: bool = False
    animation_frames: Positive = 1
    assumed_side: Positive = 1_024

    def image(self, width: int, height: int, frames: int = 1, orientation: int = 1) -> MediaCost:
        """Price of a picture; see Family."""
        known = width > 0 and height > 0
        if not known:
            width = height = self.assumed_side
        if self.applies_exif and orientation in TRANSPOSED:
            width, height = height, width
        one = self.picture(width, height)
        taken = min(max(1, frames), self.animation_frames)
        if known and taken == 1:
            return one
        return MediaCost(
            one.tokens * taken,
            one.wrapper_tokens * taken,
            one.encoder_patches * taken,
            exact=one.exact and known,
            cross_attended=one.cross_attended,
        )

    def picture(self, width: int, height: int) -> MediaCost:
        """Price of one upright frame of known size, both sides at least 1. Each family says."""
        raise NotImplementedError
