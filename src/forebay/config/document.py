"""YAML read safely: plain data only, no aliases bomb, no duplicate keys, and every value's place remembered."""

from pathlib import Path
from typing import Any, Self

import yaml

from forebay.config.companions import Companions
from forebay.config.errors import ConfigError

# A configuration of 1,000 endpoints with ten fields each is about 25,000 nodes. The caps leave room above that and
# stop a few lines of nested aliases from growing to gigabytes.
MAX_ALIASES = 200
MAX_NODES = 200_000
MAX_DEPTH = 32
# Seconds become microseconds and tokens become sums: what is larger than this is no setting, and overflows somewhere.
MAX_NUMBER = 2**63 - 1
# libyaml reads 1,000 endpoints in 23 ms, its model in Python in 280 (measured): a reload is noticed by nobody.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document:
    """The data of a YAML text, and the line and column of each path such as `$.pools[0].model`."""

    def __init__(self, text: str, name: str = "configuration", beside: Companions | None = None) -> None:
        """Read `text`. Raises ConfigError naming `name`, line and column. `beside` has the files that it names."""
        self.name = name
        self.beside = beside or Companions()
        self._marks: dict[str, yaml.Mark] = {}
        self._nodes = 0
        self._seen: set[int] = set()
        self._aliases = 0
        loader = _LOADER(text)
        try:
            node = loader.get_single_node()
            self.data: Any = {} if node is None else self._value(loader, node, "$", 0)
        except RecursionError:
            raise ConfigError(name, "not YAML", f"at most {MAX_DEPTH} levels") from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
            raise ConfigError(where, f"not YAML: {getattr(error, 'problem', error)}") from None
        finally:
            loader.dispose()

    @classmethod
    def read(cls, path: Path) -> Self:
        """The document in a file. Raises ConfigError."""
        try:
            return cls(path.read_text(encoding="utf-8"), path.name, Companions(path.parent))
        except (OSError, UnicodeError) as error:
            raise ConfigError(str(path), f"cannot be read: {error}") from None

    @classmethod
    def of(cls, data: Any, name: str, beside: Companions | None = None) -> Self:
        """A document of plain `data` that was not read from a text, and so has no lines."""
        document = cls("", name, beside)
        document.data = data
        return document

    def place(self, path: str) -> str:
        """Where `path` stands, as `name:line:column: path`; the nearest parent's mark if it has none of its own."""
        probe = path
        while probe not in self._marks and len(probe) > 1:
            probe = probe[: max(probe.rfind("."), probe.rfind("["), 1)]
        mark = self._marks.get(probe)
        where = f"{self.name}:{mark.line + 1}:{mark.column + 1}" if mark else self.name
        short = path.removeprefix("$").removeprefix(".")
        return f"{where}: {short}" if short else where

    def _value(self, loader: yaml.SafeLoader, node: yaml.Node, path: str, depth: int) -> Any:
        self._count(node, path, depth)
        self._marks.setdefault(path, node.start_mark)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(loader, node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(loader, item, f"{path}[{i}]", depth + 1) for i, item in enumerate(node.value)]
        return self._scalar(loader, node, path)

    def _scalar(self, loader: yaml.SafeLoader, node: yaml.Node, path: str) -> Any:
        try:
            value = loader.construct_object(node)
        except (ValueError, LookupError, AttributeError):  # a date with a 13th month, `!!bool maybe`
            raise ConfigError(
                self.place(path), f"`{node.value[:40]}` is not what it is declared as", "put it in quotes"
            ) from None
        # A comparison with NaN is false as well.
        if isinstance(value, int | float) and not -MAX_NUMBER <= value <= MAX_NUMBER:
            raise ConfigError(
                self.place(path), f"`{node.value}` is no usable number", "write a finite number below 2**63"
            )
        return value

    def _mapping(
        self, loader: yaml.SafeLoader, node: yaml.MappingNode, path: str, depth: int
    ) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._scalar(loader, key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            self._marks.setdefault(f"{path}.{key}", key_node.start_mark)
            if not isinstance(key, str):
                raise ConfigError(self.place(f"{path}.{key}"), "keys must be text", "put the key in quotes")
            if key in data:
                raise ConfigError(self.place(path), f"`{key}` is given twice", "remove one of them")
            data[key] = self._value(loader, value_node, f"{path}.{key}", depth + 1)
        return data

    def _count(self, node: yaml.Node, path: str, depth: int) -> None:
        self._nodes += 1
        self._aliases += id(node) in self._seen and not isinstance(node, yaml.ScalarNode)
        self._seen.add(id(node))
        if self._aliases > MAX_ALIASES or self._nodes > MAX_NODES or depth > MAX_DEPTH:
            limits = f"at most {MAX_ALIASES} aliases, {MAX_NODES} values and {MAX_DEPTH} levels"
            raise ConfigError(self.place(path), "too large once its aliases are expanded", limits)
