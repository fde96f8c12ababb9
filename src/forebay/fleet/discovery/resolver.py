"""Names to addresses by the system's own resolver: /etc/hosts, search domains and whatever else the host is set up with."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

RESOLVE_SECONDS = 5.0
"""The resolver's own first timeout. Threads that still wait are the loop's; nobody waits for them."""

Resolve = Callable[[str], Awaitable[tuple[str, ...]]]
"""Addresses of a name, at least one. Raises OSError or TimeoutError."""


async def resolve(host: str) -> tuple[str, ...]:
    """Each address of `host` once, A and AAAA, in the order of the system's preference. Raises OSError or TimeoutError.

    It does not tell how long the answer holds, so that whoever follows a name asks again and again: the host's cache
    answers most of it.
    """
    async with asyncio.timeout(RESOLVE_SECONDS):
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(where[0]) for *_, where in found))
