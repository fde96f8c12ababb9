"""The gateway's two listeners, as the file sets them: where they are, and the certificates that they show."""

import contextlib
import re
import ssl

import msgspec

from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.schema import File
from forebay.config.tls import listener_context, load_pair
from forebay.config.ways_in import ListenAddress, ListenerTls, listen_address


class WayIn(msgspec.Struct, frozen=True):
    """One listener: its addresses, and what it speaks TLS with (None: it does not). `socket_mode` is for Unix sockets."""

    addresses: tuple[ListenAddress, ...]
    tls: ListenerTls
    context: ssl.SSLContext | None
    socket_mode: int

    def renew(self) -> None:
        """Show the certificate as its files have it now, from the next handshake on.

        A plan is put together from files that are sound. Where they have changed since, the next look mends it.
        """
        if self.context is not None:
            with contextlib.suppress(ConfigError):
                load_pair("tls", self.context, self.tls)


def ways_in(document: Document, file: File) -> tuple[WayIn, WayIn]:
    """How clients come in, and how operators do. Raises ConfigError."""
    public = _way(document, "listen", file.listen, "tls", file.tls, file)
    admin = _way(document, "admin", file.admin, "admin_tls", file.admin_tls, file)
    for address in admin.addresses:
        # Port 0 is any free one: a different one for each.
        if address in public.addresses and (address.port or address.path):
            raise ConfigError(
                document.place("$.admin"), f"{address} is in `listen` too", "choose another for one of them"
            )
    return public, admin


def _way(
    document: Document, name: str, listen: str | tuple[str, ...], tls_name: str, tls: ListenerTls, file: File
) -> WayIn:
    place = document.place(f"$.{name}")
    texts = (listen,) if isinstance(listen, str) else listen
    if not texts:
        raise ConfigError(place, "no address is given", "write HOST:PORT, as 127.0.0.1:8080, or unix:/PATH")
    addresses = tuple(dict.fromkeys(listen_address(place, text) for text in texts))
    context = listener_context(document.place(f"$.{tls_name}"), tls)
    return WayIn(addresses, tls, context, _mode(document, file))


def _mode(document: Document, file: File) -> int:
    if not re.fullmatch("[0-7]{3,4}", file.socket_mode):
        place = document.place("$.socket_mode")
        raise ConfigError(
            place, f"`{file.socket_mode}` is no mode", 'write it in octal and in quotes, as "660"'
        )
    return int(file.socket_mode, 8)
