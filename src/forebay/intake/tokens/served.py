"""What a served model's own files say of its media, looked up as the `transformers` package does.

Source: transformers 5.24.0, image_processing_base.py, video_processing_utils.py, processing_utils.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from forebay.intake.tokens.family import Rules, look_up
from forebay.intake.tokens.registry import detect_family

# What each processor is saved under since transformers 5, inside processor_config.json.
_PICTURES_AND_SOUNDS = ("image_processor", "feature_extractor", "audio_processor")
_CLIPS = "video_processor"
# Where a family shows, surest first: an image processor is shared by many of them.
_NAMED_AT = ("processor_class", "model_type", "architectures", "image_processor_type")


class Layer(msgspec.Struct, frozen=True):
    """One configuration, and the file that it is from."""

    file: str
    data: Mapping[str, Any]


class Stated(msgspec.Struct, frozen=True):
    """A parameter's value, and where it stands."""

    value: Any
    place: str
    file: str


class Served(msgspec.Struct, frozen=True):
    """A served model's configurations, best first: `media` for pictures and sounds, `clips` for clips.

    `whole` tells that all files were looked for, so that clips without a configuration of theirs take the pictures'.
    """

    media: tuple[Layer, ...] = ()
    clips: tuple[Layer, ...] = ()
    whole: bool = False

    def family(self) -> tuple[str, str]:
        """The family that the files point to, and the file that does; both empty for none."""
        for place in _NAMED_AT:
            for layer in self.media:
                value = layer.data.get(place)
                for name in value if isinstance(value, list) else [value]:
                    found = detect_family(name) if isinstance(name, str) else None
                    if found:
                        return found, layer.file
        return "", ""

    def stated(self, family: type[Rules]) -> dict[str, Stated]:
        """Parameters of `family` that the files state. Those of a parameter, such as `sampling.fps`, keep their dot."""
        pictures = dict(_found(self.media, family.configured_at))
        if self.clips or not self.whole:
            return pictures | dict(_found(self.clips, family.clips_configured_at))
        usual = family()
        shared = _found(self.media, family.clips_configured_at)
        # Unset means the pictures' own already, and stays so when the owner changes theirs.
        return pictures | {name: each for name, each in shared if getattr(usual, name, "") is not None}


def _found(layers: tuple[Layer, ...], places_of: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, Stated]]:
    for parameter, places in places_of.items():
        hits = (
            Stated(value, place, layer.file)
            for layer in layers
            for place in places
            if (value := look_up(layer.data, place)) is not None
        )
        first = next(hits, None)
        if first is not None:
            yield parameter, first


def served(
    *,
    config: Layer | None = None,
    processor: Layer | None = None,
    preprocessor: Layer | None = None,
    video: Layer | None = None,
) -> Served:
    """What config.json, processor_config.json, preprocessor_config.json and video_preprocessor_config.json say together.

    A processor that is nested in processor_config.json stands before the file of its own.
    """
    nested = [part for name in _PICTURES_AND_SOUNDS for part in _inside(processor, name)]
    media = [*nested, *(layer for layer in (preprocessor, processor, config) if layer is not None)]
    own = [*_inside(processor, _CLIPS), *([video] if video is not None else [])]
    return Served(tuple(media), tuple(own[:1]), whole=True)


def _inside(layer: Layer | None, name: str) -> list[Layer]:
    data = layer.data.get(name) if layer is not None else None
    return [Layer(layer.file, data)] if layer is not None and isinstance(data, Mapping) else []


def nested(stated: Mapping[str, Stated]) -> dict[str, Any]:
    """The parameters as a family's settings: those with a dot as mappings in mappings."""
    settings: dict[str, Any] = {}
    for parameter, each in stated.items():
        outer, _, inner = parameter.partition(".")
        if inner:
            settings.setdefault(outer, {})[inner] = each.value
        else:
            settings[outer] = each.value
    return settings
