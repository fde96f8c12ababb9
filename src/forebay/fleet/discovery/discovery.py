"""Every source of a plan, looked at from `start` to `stop`; new endpoints are handed on all at once."""

import asyncio
import contextlib
import functools
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from urllib.parse import urlsplit

from forebay.config.addresses import socket_path
from forebay.config.discover import Discover
from forebay.config.endpoints import Found
from forebay.domain.endpoint import Endpoint
from forebay.fleet.discovery import resolver
from forebay.fleet.discovery.dns import DnsSource, HostSource
from forebay.fleet.discovery.listed import FileSource
from forebay.fleet.discovery.resolver import Resolve
from forebay.fleet.discovery.source import Source

log = logging.getLogger(__name__)


class Discovery:
    """Follows the sources of endpoints, and the names that endpoints are declared at.

    `changed` is awaited whenever a source gives something else; `moved` is called with a name and all of its addresses when
    those are others. `clock` is in microseconds.
    """

    def __init__(
        self,
        changed: Callable[[], Awaitable[None]],
        moved: Callable[[str, tuple[str, ...]], None],
        clock: Callable[[], int],
        *,
        resolve: Resolve | None = None,
        warn: Callable[[str], None] = log.warning,
    ) -> None:
        self._publish = changed
        self._moved = moved
        self._clock = clock
        self._resolve = resolve or resolver.resolve
        self._warn = warn
        self._sources: dict[str, Source] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._publisher: asyncio.Task[None] | None = None

    async def follow(self, sources: Iterable[Discover], hosts: Iterable[str], host_seconds: float) -> Found:
        """Follow these from now on, and no others. Returns what they give, once each has been looked at.

        One that was followed before goes on with what it gave last.
        """
        wanted: dict[str, Callable[[], Source]] = {}
        for source in sources:
            wanted.setdefault(str(source), functools.partial(self._source, source))
            self._pace(str(source), source.refresh_seconds)
        for host in hosts:
            wanted.setdefault(host, functools.partial(self._host, host, host_seconds))
            self._pace(host, host_seconds)
        for key in [key for key in self._sources if key not in wanted]:
            self._forget(key)
        await asyncio.gather(
            *(self._begin(key, make()) for key, make in wanted.items() if key not in self._sources)
        )
        return self.found()

    def found(self) -> Found:
        """What each source gives now."""
        return tuple((key, source.entries) for key, source in self._sources.items() if source.entries)

    def sources(self) -> Mapping[str, Source]:
        """Everything that is followed, by its key."""
        return self._sources

    async def stop(self) -> None:
        """Follow nothing any more."""
        tasks = [task for task in (self._publisher, *self._tasks.values()) if task is not None]
        self._publisher = None
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _source(self, source: Discover) -> Source:
        if source.file:
            return FileSource(source, self._clock, self._warn)
        return DnsSource(source, self._resolve, self._clock, self._warn)

    def _host(self, host: str, seconds: float) -> Source:
        return HostSource(host, seconds, self._resolve, self._moved, self._clock, self._warn)

    def _pace(self, key: str, seconds: float) -> None:
        if key in self._sources:
            self._sources[key].seconds = seconds

    async def _begin(self, key: str, source: Source) -> None:
        self._sources[key] = source
        await source.look()
        if self._sources.get(key) is source:
            self._tasks[key] = asyncio.create_task(self._watch(source), name=f"discovery of {key}")
        if self._publisher is None:
            self._publisher = asyncio.create_task(self._hand_on(), name="discovery")

    def _forget(self, key: str) -> None:
        del self._sources[key]
        task = self._tasks.pop(key, None)
        if task is not None:
            task.cancel()

    async def _watch(self, source: Source) -> None:
        while True:
            await asyncio.sleep(source.seconds)
            if await source.look():
                self._changed.set()

    async def _hand_on(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._publish()
            except Exception:
                log.exception("what discovery found could not be taken over")


def names_of(endpoints: Iterable[Endpoint]) -> tuple[str, ...]:
    """Hosts that endpoints are declared at by name, each once: not those at addresses, nor at Unix sockets."""
    found: dict[str, None] = {}
    for endpoint in endpoints:
        host = "" if socket_path(endpoint.url) else urlsplit(endpoint.url).hostname or ""
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(host.partition("%")[0])
            continue
        if host:
            found[host] = None
    return tuple(found)
