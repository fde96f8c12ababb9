"""How endpoints are reached: over TCP, TLS or a Unix socket, at the addresses that their names have now."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

import msgspec

from forebay.config.addresses import PORTS, socket_path
from forebay.gateway.http1.engine_connection import EngineConnection

NEXT_SECONDS = 1.0
"""After so long without a connection a name's next address is tried: a lost SYN is sent again after a second (RFC 6298)."""


class Tls(msgspec.Struct, frozen=True):
    """What an https endpoint is talked to with. `name` is the one that its certificate must have, empty for its host."""

    context: ssl.SSLContext
    name: str = ""


def address(url: str) -> tuple[str, int]:
    """Host and port of an endpoint's base URL. Raises ValueError if it is not HTTP over TCP."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"endpoint {url!r} is not of the form http://host:port")
    return parts.hostname, parts.port or PORTS[parts.scheme]


@lru_cache(maxsize=4096)
def host_of_url(url: str) -> str:
    """The name or address that is connected to, empty for a Unix socket."""
    return "" if socket_path(url) else urlsplit(url).hostname or ""


class Ways:
    """What is known of how to reach endpoints: certificates by URL, and addresses by name.

    A name whose addresses are not known is looked up by the system, at each connection.
    """

    def __init__(self) -> None:
        self.tls: Mapping[str, Tls] = {}
        self.addresses: dict[str, tuple[str, ...]] = {}

    def leads_to(self, url: str, address: str) -> bool:
        """Whether a connection to `url` may still be one to `address`."""
        known = self.addresses.get(host_of_url(url))
        return known is None or not address or address in known


async def open_connection(
    loop: asyncio.AbstractEventLoop, url: str, protocol: Callable[[], EngineConnection], ways: Ways
) -> EngineConnection:
    """A fresh connection to an endpoint, at the first of its addresses that takes it. Raises OSError or ValueError."""
    path = socket_path(url)
    if path:
        return (await loop.create_unix_connection(protocol, path))[1]
    host, port = address(url)
    tls = ways.tls.get(url)
    if tls is None and url.startswith("https:"):
        raise ValueError(f"endpoint {url!r} wants TLS, and none is set up")  # never in clear by mistake
    context, name = (tls.context, tls.name or host) if tls else (None, None)
    *others, last = ways.addresses.get(host, (host,))

    async def dial(candidate: str) -> EngineConnection:
        _, connection = await loop.create_connection(
            protocol, candidate, port, ssl=context, server_hostname=name
        )
        return connection

    for candidate in others:
        with contextlib.suppress(OSError):  # a TimeoutError is one
            async with asyncio.timeout(NEXT_SECONDS):
                return await dial(candidate)
    return await dial(last)
