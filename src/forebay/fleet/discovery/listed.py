"""Endpoints from a file: a list in the form of the configuration's own, as YAML or JSON."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec

from forebay.config.addresses import checked_url
from forebay.config.discover import Discover
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.schema import EndpointFile
from forebay.fleet.discovery.files import Contents
from forebay.fleet.discovery.source import Source


class FileSource(Source):
    """The endpoints listed in `source.file`. An empty list is a list; an empty file is a fault."""

    def __init__(self, source: Discover, clock: Callable[[], int], warn: Callable[[str], None]) -> None:
        super().__init__(str(source), source.refresh_seconds, clock, warn)
        self._path = source.file
        self._contents = Contents()
        self._problem = ""

    @property
    def size(self) -> int:
        """How many endpoints are listed."""
        return len(self.entries)

    async def _look(self) -> bool:
        if await asyncio.to_thread(self._contents.changed, [self._path]):
            self._problem = ""
            before = self.entries
            try:
                self.entries = await asyncio.to_thread(listed, Path(self._path))
            except ConfigError as error:
                self._problem = str(error)
            else:
                return before != self.entries
        if self._problem:
            raise ValueError(self._problem)
        return False


def listed(path: Path) -> tuple[EndpointFile, ...]:
    """The endpoints that a file lists. Raises ConfigError naming the place and the cure."""
    document = Document.read(path)
    try:
        entries = msgspec.convert(document.data, tuple[EndpointFile, ...], strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(
            str(path), str(error), "write a list of endpoints, as `- url: http://HOST:PORT`"
        ) from None
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        place = document.place(f"$[{index}]")
        if entry.discover is not None or not entry.url:
            raise ConfigError(place, "one address is needed", "write `url`")
        url = checked_url(place, entry.url)
        if url in seen:
            raise ConfigError(place, f"{entry.url} is listed twice", "remove one of them")
        seen.add(url)
    return tuple(msgspec.structs.replace(entry, url=checked_url("", entry.url)) for entry in entries)
