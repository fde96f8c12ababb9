"""The connections of one endpoint's eyes: over TCP or a Unix socket, at the addresses that its name has now."""

import asyncio
import socket
from collections.abc import Callable

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from forebay.config.addresses import socket_path

KEEP_SECONDS = 30.0
"""An idle connection of the eyes. Scrapes come every half second, so that it ends with its endpoint."""

AddressesOf = Callable[[str], tuple[str, ...]]
"""The addresses that a name is known to have, empty where that is not known."""


def open_session(url: str, addresses_of: AddressesOf) -> aiohttp.ClientSession:
    """A session for the endpoint at `url` alone: what it keeps open ends with it."""
    path = socket_path(url)
    connector: aiohttp.BaseConnector
    if path:
        connector = aiohttp.UnixConnector(path, limit=0, keepalive_timeout=KEEP_SECONDS)
    else:
        connector = aiohttp.TCPConnector(
            limit=0,
            keepalive_timeout=KEEP_SECONDS,
            use_dns_cache=False,
            resolver=_Resolver(addresses_of),
        )
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


class _Resolver(AbstractResolver):
    """What discovery knows of a name, and the system's word where it knows nothing."""

    def __init__(self, addresses_of: AddressesOf) -> None:
        self._addresses_of = addresses_of

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        known = self._addresses_of(host) or await _asked(host, family)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in known
        ]

    async def close(self) -> None:
        """Nothing is held."""


async def _asked(host: str, family: int) -> tuple[str, ...]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, family=family, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(where[0]) for *_, where in found))
