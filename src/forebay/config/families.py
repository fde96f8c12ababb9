"""Which token rules each pool has, and where they come from."""

from collections.abc import Mapping
from typing import Any

import msgspec

from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.schema import PoolFile
from forebay.config.served_model import read_served
from forebay.config.shapes import convert, named, split
from forebay.intake.tokens.family import Family, Rules
from forebay.intake.tokens.registry import FAMILIES, build, detect_family
from forebay.intake.tokens.served import Served, Stated, nested

BY_SETTING = "`family`"
BY_NAME = "the model's name"


class PoolFamily(msgspec.Struct, frozen=True):
    """A pool's token rules: `stated` by the served model's files, and above them `given` by the owner.

    `found_by` says what named the family: BY_SETTING, BY_NAME or a file; empty when the generic fallback stands in.
    `doubt` is the other family that the files point to when they disagree with the model's name, empty when they do not.
    """

    name: str
    found_by: str
    stated: Mapping[str, Stated]
    given: Mapping[str, Any]
    doubt: str = ""

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
    doubt = _doubt(family, served) if found_by == BY_NAME else ""
    return PoolFamily(name, found_by, stated, given, doubt)


def _chosen(document: Document, path: str, file: PoolFile, served: Served) -> tuple[str, str, dict[str, Any]]:
    """Name of the family, what named it, and the parameters that are given with it."""
    given: dict[str, Any] = file.family if isinstance(file.family, dict) else {}
    if file.family and (not given or "name" in given):
        name, given = named(document, path, file.family, FAMILIES)
        return name, BY_SETTING, given
    detected = detect_family(file.model)
    name, found_by = (detected, BY_NAME) if detected else served.family()
    if given and not name:
        problem = "nothing tells whose parameters these are: neither the model's name nor its files"
        raise ConfigError(document.place(path), problem, "add `name`")
    return name or "generic", found_by, given


def _doubt(family: type[Rules], served: Served) -> str:
    other, _ = served.family()
    akin = other and (issubclass(FAMILIES[other], family) or issubclass(family, FAMILIES[other]))
    return "" if akin else other


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
