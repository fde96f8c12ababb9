"""Where the gateway listens, and how its connections are secured: the forms that a file may give."""

import re
from typing import Literal

import msgspec

from forebay.config.errors import ConfigError

_UNIX = "unix:"
# What sockaddr_un holds on Linux, with its closing zero.
MAX_SOCKET_PATH_BYTES = 107


class ListenAddress(msgspec.Struct, frozen=True):
    """One place to listen at: a host and a port (0 for any free one), or the path of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_UNIX}{self.path}" if self.path else f"{host}:{self.port}"


class ListenerTls(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """TLS of one listener. Files are PEM, read again when they change and at a reload."""

    # The certificate with its chain, and its key. Both, or the listener speaks plain HTTP.
    cert_file: str = ""
    key_file: str = ""
    # The oldest version that clients may speak. All SDKs in use speak 1.2, and what is older is broken.
    min_version: Literal["1.2", "1.3"] = "1.2"
    # Certificates of which one must have signed the client's own; empty, and clients need none.
    client_ca_file: str = ""

    @property
    def on(self) -> bool:
        """Whether the listener speaks TLS."""
        return bool(self.cert_file)

    def check(self, place: str) -> None:
        """Refuse half a pair. Raises ConfigError naming `place`."""
        if bool(self.cert_file) != bool(self.key_file):
            raise ConfigError(
                place, "a certificate and its key go together", "set both cert_file and key_file"
            )
        if self.client_ca_file and not self.on:
            raise ConfigError(place, "client_ca_file asks for TLS", "set cert_file and key_file")


def listen_address(place: str, text: str) -> ListenAddress:
    """An address to listen at, from HOST:PORT, [V6]:PORT or unix:/PATH. Raises ConfigError naming `place`."""
    if text.startswith(_UNIX):
        return _unix_address(place, text)
    host, colon, port = text.rpartition(":")
    if ":" in host and not re.fullmatch(r"\[[0-9A-Fa-f:.]+(%\w+)?\]", host):
        raise ConfigError(place, f"`{text}` is not clear", f"put the IPv6 address in [ ], as [{host}]:{port}")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        cure = "write HOST:PORT, as 127.0.0.1:8080, or unix:/PATH"
        raise ConfigError(place, f"`{text}` is not an address", cure)
    return ListenAddress(host.strip("[]"), int(port))


def _unix_address(place: str, text: str) -> ListenAddress:
    path = text.removeprefix(_UNIX)
    path = "/" + path.lstrip("/") if path.startswith("/") else path
    if not path or path.endswith("/") or "\0" in path:
        raise ConfigError(
            place, f"`{text}` names no socket", "write unix:/PATH, as unix:/run/forebay/public.sock"
        )
    if len(path.encode()) > MAX_SOCKET_PATH_BYTES:
        raise ConfigError(
            place, f"the path of a socket has at most {MAX_SOCKET_PATH_BYTES} bytes", "choose a shorter one"
        )
    return ListenAddress(path=path)
