"""Plain data into structs, with the place and the cure of what does not fit."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from forebay.config.document import Document
from forebay.config.errors import ConfigError

_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<field>[^`]*)`")
_NO_CHOICE = re.compile(r"Invalid enum value '?(?P<word>[^']*)'?$")
_PATH = re.compile(r"^(?P<problem>.*?) - at `(?:key in )?(?P<path>\$[^`]*)`$", re.DOTALL)


def named(
    document: Document, path: str, given: str | dict[str, Any], known: Mapping[str, object]
) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a setting that is a name, or a mapping with a `name`."""
    settings = {} if isinstance(given, str) else dict(given)
    name = given if isinstance(given, str) else settings.pop("name", "")
    if name not in known:
        raise ConfigError(
            document.place(path), f"`{name}` is not known", nearest(str(name), known) or ", ".join(known)
        )
    return str(name), settings


def convert(data: Any, shape: Any, document: Document, path: str) -> Any:
    """`data`, which stands at `path`, as `shape`. Raises ConfigError."""
    try:
        return msgspec.convert(data, shape, strict=True)
    except msgspec.ValidationError as error:
        raise _config_error(error, shape, document, path) from None


def _config_error(error: msgspec.ValidationError, shape: Any, document: Document, base: str) -> ConfigError:
    problem, path = split(error)
    path = base + path
    unknown = _UNKNOWN_FIELD.search(problem)
    choice = _NO_CHOICE.search(problem)
    if choice is not None:
        return _no_choice(choice["word"], shape, document.place(path), path)
    if unknown is None:
        cure = "write its settings as `name: value`" if problem.startswith("Expected `object`") else ""
        return ConfigError(document.place(path), problem[:1].lower() + problem[1:], cure)
    fields = dict.fromkeys(_fields_below(shape))
    place = document.place(f"{path}.{unknown['field']}")
    return ConfigError(place, f"unknown field `{unknown['field']}`", nearest(unknown["field"], fields))


def _no_choice(word: str, shape: Any, place: str, path: str) -> ConfigError:
    setting = re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]
    known = dict.fromkeys(filter(None, _choices(shape, setting)))
    return ConfigError(place, f"`{word}` is not known", nearest(word, known) or ", ".join(known))


def _choices(shape: Any, setting: str) -> Iterator[str]:
    """The words that a setting of this name may be, in a struct type and in those that it is made of."""
    for definition in msgspec.json.schema(shape).get("$defs", {}).values():
        below = [definition.get("properties", {}).get(setting, {})]
        for part in below:
            below += [*part.get("anyOf", ()), *filter(None, [part.get("items")])]
            yield from part.get("enum", ())


def split(error: msgspec.ValidationError) -> tuple[str, str]:
    """The problem, and the path below the data's root where it is, such as `.size[0]`."""
    match = _PATH.match(str(error))
    return (match["problem"], match["path"][1:]) if match else (str(error), "")


def _fields_below(shape: Any) -> set[str]:
    """Names of every field in a struct type and in those that it is made of."""
    info = msgspec.json.schema(shape)
    names: set[str] = set()
    for definition in info.get("$defs", {}).values():
        names |= set(definition.get("properties", {}))
    return names


def nearest(word: str, known: Mapping[str, object]) -> str:
    """A question whether the known word closest to `word` was meant, empty when none is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean `{close[0]}`?" if close else ""
