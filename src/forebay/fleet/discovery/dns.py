"""Endpoints by name: each address is one."""

import ipaddress
from collections.abc import Callable

from forebay.config.discover import Discover
from forebay.config.schema import EndpointFile
from forebay.fleet.discovery.names import Addresses
from forebay.fleet.discovery.resolver import Resolve
from forebay.fleet.discovery.source import Source


class DnsSource(Source):
    """The addresses of `source.dns`, each an endpoint at `source.port`."""

    def __init__(
        self, source: Discover, resolve: Resolve, clock: Callable[[], int], warn: Callable[[str], None]
    ) -> None:
        super().__init__(str(source), source.refresh_seconds, clock, warn)
        self._source = source
        self._resolve = resolve
        self._addresses = Addresses()

    @property
    def size(self) -> int:
        """How many addresses are known."""
        return len(self.entries)

    async def _look(self) -> bool:
        found = await self._resolve(self._source.dns)
        if not found:
            raise ValueError("the name has no address")
        changed = self._addresses.answered(found)
        if changed:
            # In an order of their own: answers come in any.
            self.entries = tuple(
                self._entry(address) for address in sorted(self._addresses.known, key=_order)
            )
        return changed

    def _entry(self, address: str) -> EndpointFile:
        host = f"[{address}]" if ":" in address else address
        return EndpointFile(url=f"{self._source.scheme}://{host}:{self._source.port}")


class HostSource(Source):
    """The addresses of a host that endpoints are declared at by name: `moved` hears of each change, and of the first."""

    def __init__(
        self,
        host: str,
        seconds: float,
        resolve: Resolve,
        moved: Callable[[str, tuple[str, ...]], None],
        clock: Callable[[], int],
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(host, seconds, clock, warn)
        self._resolve = resolve
        self._moved = moved
        self._addresses = Addresses()

    @property
    def size(self) -> int:
        """How many addresses are known."""
        return len(self._addresses.known)

    async def _look(self) -> bool:
        found = await self._resolve(self.key)
        if not found:
            raise ValueError("the name has no address")
        if self._addresses.answered(found):
            self._moved(self.key, self._addresses.known)
        return False  # the plan has the name, and stays as it is


def _order(address: str) -> tuple[int, int]:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return parsed.version, int(parsed)
