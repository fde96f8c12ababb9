"""Which token rules each pool has, and where they come from."""

from collections.abc import Mapping
from typing import Any

import msgspec

from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.schema import PoolFile
from forebay.config.served_model import read_served
from forebay.config.shapes import convert, named, split
from forebay.intake.tokens.family import Family
from forebay.intake.tokens.registry import FAMILIES, build, detect_family
from forebay.intake.tokens.served import Served, Stated, nested

BY_SETTING = "`family`"
BY_NAME = "the model's name"


class PoolFamily(msgspec.Struct, frozen=True):
    """A pool's token rules: `stated` by the served model's files, and above them `given` by the owner.

    `found_by` says what named the family: BY_SETTING, BY_NAME or a file; empty when the generic fallback stands in.
    """

    name: str
    found_by: str
    stated: Mapping[str, Stated]
    given: Mapping[str, Any]

    def on(self, engine: str) -> Family:
        """The rules as `engine` applies them, empty for one that is not known (yet)."""
        return build(self.name, self.given, engine, nested(self.stated))


def pool_family(document: Document, path: str, file: PoolFile) -> PoolFamily:
    """The token rules of the pool at `path`. Raises ConfigError."""
    served = Served()
    place = document.place(f"{path}.preprocessor_config")
    if file.preprocessor_config:
        served = read_served(place, document.beside, file.preprocessor_config)
    name, found_by, given = _chosen(document, f"{path}.family", file, served)
    family = FAMILIES[name]
    convert(given, family, document, f"{path}.family")
    stated = {
        parameter: each
        for parameter, each in served.stated(family).items()
        if parameter.partition(".")[0] not in given
    }
    _check(place, name, stated)
    return PoolFamily(name, found_by, stated, given)


def _chosen(document: Document, path: str, file: PoolFile, served: Served) -> tuple[str, str, dict[str, Any]]:
    """Name of the family, what named it, and the parameters that are given with it."""
    if file.family:
        name, given = named(document, path, file.family, FAMILIES)
        return name, BY_SETTING, given
    detected = detect_family(file.model)
    if detected:
        return detected, BY_NAME, {}
    name, found_by = served.family()
    return name or "generic", found_by, {}


def _check(place: str, name: str, stated: Mapping[str, Stated]) -> None:
    try:
        msgspec.convert(nested(stated), FAMILIES[name], strict=True)
    except msgspec.ValidationError as error:
        problem, below = split(error)
        parameter = next(each for each in stated if f"{below}.".startswith((f".{each}.", f".{each}[")))
        said = stated[parameter]
        raise ConfigError(
            place,
            f"{said.file} has {said.value!r} at `{said.place}`: {problem[:1].lower()}{problem[1:]}",
            f"correct it, or give `{parameter.partition('.')[0]}` under `family`",
        ) from None
