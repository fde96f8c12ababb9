"""The sockets that clients come in by: opened here, served by whoever is given them, and removed in the end.

They are bound and not yet listening, so that a descriptor can be handed to another process, which begins when it is ready.
"""

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from forebay.config.ways_in import ListenAddress

BACKLOG = 4096
"""A burst of new connections waits here while the loop is busy; Linux caps it at net.core.somaxconn."""

GOODBYE_SECONDS = 3600.0
"""How long TLS may take to send what was written before a close. Whoever takes nothing of it is cut off long before, by
`inbound.send_timeout_seconds`; a slow reader is not."""


def open_sockets(
    addresses: Iterable[ListenAddress], *, socket_mode: int = 0o660, reuse_port: bool = False
) -> list[socket.socket]:
    """One bound socket for each address that the names stand for. Raises OSError, and then none stays open.

    `socket_mode` is given to Unix sockets. With `reuse_port` other sockets may share a TCP port: one for each worker.
    """
    opened: list[socket.socket] = []
    try:
        for address in addresses:
            if address.path:
                opened.append(_unix(address.path, socket_mode))
            else:
                opened += _tcp(address, reuse_port=reuse_port)
    except OSError:
        close_sockets(opened)
        raise
    return opened


def check_free(addresses: Iterable[ListenAddress]) -> None:
    """Raise OSError where another process listens, one that shares its port too: it would get a part of our clients."""
    close_sockets(open_sockets([address for address in addresses if not address.path]))


async def accept(
    loop: asyncio.AbstractEventLoop,
    opened: socket.socket,
    protocol: Callable[[], asyncio.BaseProtocol],
    tls: ssl.SSLContext | None,
    handshake_seconds: float,
) -> asyncio.Server:
    """Take connections from a bound socket. A client that has not shaken hands within `handshake_seconds` is cut off."""
    begin = loop.create_unix_server if opened.family == socket.AF_UNIX else loop.create_server
    patience = (None, None) if tls is None else (handshake_seconds, GOODBYE_SECONDS)
    return await begin(
        protocol,
        sock=opened,
        backlog=BACKLOG,
        ssl=tls,
        ssl_handshake_timeout=patience[0],
        ssl_shutdown_timeout=patience[1],
    )


def close_sockets(sockets: Iterable[socket.socket], addresses: Iterable[ListenAddress] = ()) -> None:
    """Close them, and remove the files of those that have one, unless another's socket is there by now.

    A socket that its server has closed cannot tell its file any more: name the `addresses` that were listened at.
    """
    paths = {address.path for address in addresses}
    for each in sockets:
        paths.add(path_of(each))
        each.close()
    for path in filter(None, paths):
        with contextlib.suppress(OSError):
            remove_stale(path)


def path_of(opened: socket.socket) -> str:
    """Where a Unix socket stands, empty for another kind."""
    return str(opened.getsockname()) if opened.family == socket.AF_UNIX and opened.fileno() >= 0 else ""


def shown(opened: socket.socket) -> str:
    """The address as people write it: HOST:PORT with IPv6 in brackets, or unix:/PATH."""
    if opened.family == socket.AF_UNIX:
        return f"unix:{opened.getsockname()}"
    host, port = opened.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bound_to(opened: socket.socket) -> tuple[str, int]:
    """Host and port of a TCP socket."""
    host, port = opened.getsockname()[:2]
    return host, port


def urls(sockets: Iterable[socket.socket], tls: ssl.SSLContext | None) -> str:
    """Where clients come in, as people write it, with commas between: http://HOST:PORT, https://, or unix:/PATH."""
    scheme = "http://" if tls is None else "https://"
    found = [shown(each) if each.family == socket.AF_UNIX else scheme + shown(each) for each in sockets]
    return ", ".join(found)


def remove_stale(path: str) -> None:
    """Remove a socket's file that nobody answers at. Raises OSError if somebody does, or it is no socket."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(Path(path).stat().st_mode):
            raise OSError(errno.EEXIST, f"{path} is there, and is no socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            # EAGAIN: somebody is there, and has no room for us just now.
            if probe.connect_ex(path) in {0, errno.EAGAIN, errno.EINPROGRESS}:
                raise OSError(errno.EADDRINUSE, f"another process listens at {path}")
        Path(path).unlink()


def _unix(path: str, mode: int) -> socket.socket:
    remove_stale(path)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        opened.bind(path)
        os.chmod(path, mode)  # noqa: PTH101 - before it listens: nobody comes in by another mode
        opened.setblocking(False)
    except OSError as error:
        opened.close()
        raise OSError(error.errno, f"cannot listen at unix:{path}: {error.strerror}") from None
    return opened


def _tcp(address: ListenAddress, *, reuse_port: bool) -> list[socket.socket]:
    try:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except socket.gaierror as error:
        raise OSError(error.errno, f"cannot listen at {address}: {error.strerror}") from None
    return [_bound(family, where, reuse_port=reuse_port) for family, _, _, _, where in dict.fromkeys(found)]


def _bound(family: int, where: tuple[Any, ...], *, reuse_port: bool) -> socket.socket:
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if reuse_port:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            # One socket, one family: what a mapped IPv4 address looks like differs between systems. List both addresses.
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(where)
        opened.setblocking(False)
    except OSError as error:
        opened.close()
        raise OSError(error.errno, f"cannot listen at {where[0]}:{where[1]}: {error.strerror}") from None
    return opened
