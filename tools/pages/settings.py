"""Tables of settings, from msgspec structs and from what stands beside their fields in the source."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from pages.text import prose, table

UNITS = {
    "_bytes_per_second": "bytes a second",
    "_per_second": "per second",
    "_seconds": "seconds",
    "_bytes": "bytes",
}
UNITS |= {
    "_tokens": "tokens",
    "_pixels": "pixels",
    "_side": "pixels",
    "_frames": "frames",
    "fps": "frames a second",
}
MIB = 1024 * 1024
ABOVE = "See the one above."


def reasons(cls: type) -> dict[str, str]:
    """What stands beside each field in the source: a comment above it, or a string below it."""
    source = textwrap.dedent(inspect.getsource(cls))
    lines, body = source.splitlines(), ast.parse(source).body[0].body
    found: dict[str, str] = {}
    for node, following in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or "ClassVar" in ast.unparse(node.annotation):
            continue
        first = last = node.lineno - 1
        while lines[first - 1].strip().startswith("#"):
            first -= 1
        below = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        words = (
            following.value.value
            if below
            else " ".join(line.strip().lstrip("# ") for line in lines[first:last])
        )
        beside = " ".join(words.split())
        neighbour = isinstance(body[body.index(node) - 1], ast.AnnAssign)
        found[node.target.id] = beside or (ABOVE if neighbour and found else "")
    return found if any(text and text != ABOVE for text in found.values()) else {}


def bounds(kind: Any) -> str:
    signs = (("ge", "at least"), ("gt", "more than"), ("le", "at most"))
    return "".join(
        f", {word} {value:g}" for sign, word in signs if (value := getattr(kind, sign, None)) is not None
    )


def kind_of(kind: Any) -> str:
    if isinstance(kind, msgspec.inspect.UnionType):
        return " or ".join(
            kind_of(each) for each in kind.types if not isinstance(each, msgspec.inspect.NoneType)
        )
    if isinstance(kind, msgspec.inspect.LiteralType):
        return ", ".join(f"`{value}`" for value in kind.values if value)
    if isinstance(kind, msgspec.inspect.VarTupleType):
        item = kind_of(kind.item_type)
        return "list of mappings" if item == "mapping" else f"list of {item}"
    words = {"IntType": "whole number", "FloatType": "number", "StrType": "text", "BoolType": "true or false"}
    words |= {"DictType": "mapping", "StructType": "mapping", "TupleType": "list"}
    return words[type(kind).__name__] + bounds(kind)


def default_of(field: Any) -> str:
    value = field.default
    if field.required:
        return "**required**"
    if isinstance(value, msgspec.Struct) or value is msgspec.NODEFAULT:
        return "all defaults" if field.default_factory is msgspec.NODEFAULT else "empty"
    if value in (None, "", ()):
        return "unset"
    if field.name.endswith("_bytes") and value % MIB == 0:
        return f"{value} ({value // MIB} MiB)"
    return f"`{json.dumps(value)}`"


def unit_of(name: str) -> str:
    return next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "")


def settings_table(cls: type, skipped: Sequence[str] = ()) -> str:
    why = {
        name: text
        for base in reversed(cls.__mro__)
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct
        for name, text in reasons(base).items()
    }
    rows = []
    for field in msgspec.inspect.type_info(cls).fields:
        if field.name not in skipped:
            row = [f"`{field.name}`", kind_of(field.type), unit_of(field.name), default_of(field)]
            rows.append([*row, _why(field, why)] if why else row)
    head = ["Setting", "Value", "Unit", "Default"]
    return table([*head, "Why"] if why else head, rows)


def _why(field: Any, why: dict[str, str]) -> str:
    told = why.get(field.name, "")
    nested = isinstance(field.type, msgspec.inspect.StructType)
    return "Its own section, below." if nested and told in {"", ABOVE} else told


def _given(kind: Any) -> Any:
    """The kind of what may be left out."""
    if not isinstance(kind, msgspec.inspect.UnionType):
        return kind
    given = [each for each in kind.types if not isinstance(each, msgspec.inspect.NoneType)]
    return given[0] if len(given) == 1 else kind


def sections(cls: type, path: str = "") -> Iterator[str]:
    """This struct's section, and those of the structs that it is made of."""
    skipped = ["media_urls"] if path == "intake" else []  # refused there: it has one place, at the top
    yield f"## {f'`{path}`' if path else 'Top level'}\n\n{prose(cls)}{settings_table(cls, skipped)}"
    for field in msgspec.inspect.type_info(cls).fields:
        listed = isinstance(field.type, msgspec.inspect.VarTupleType)
        inner = field.type.item_type if listed else _given(field.type)
        if isinstance(inner, msgspec.inspect.StructType) and field.name not in skipped:
            name = field.name + ("[]" if listed else "")
            yield from sections(inner.cls, f"{path}.{name}" if path else name)
