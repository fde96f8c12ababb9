"""The forms of address that a file or a command line may give, each refused with its place and its cure."""

import contextlib
import ipaddress
import re
from urllib.parse import quote, unquote, urlsplit

from forebay.config.errors import ConfigError
from forebay.config.ways_in import listen_address
from forebay.domain.endpoint import API_BASE

# Whoever pastes the whole address of a request means its base.
_API_PATHS = ("/completions", "/embeddings", "/messages", "/models", "/metrics", "/health")
_BASE_PATH = re.compile(r"[A-Za-z0-9._~%/-]*", re.ASCII)
PORTS = {"http": 80, "https": 443}
_UNIX = "http+unix://"
# What `intake.media_urls` can match: `host`, `.host` for all below it, and either with `http://` before it.
_MEDIA_HOST = re.compile(r"(?:http://)?\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*", re.IGNORECASE | re.ASCII)


def checked_url(place: str, url: str) -> str:
    """An engine's address as http://HOST:PORT or https://, the port written out, and its base path unless that is /v1.

    That of a Unix socket becomes http+unix://PATH, with the path's slashes escaped, so that a host is what is connected
    to in all of them. What it gives is taken too. Raises ConfigError naming `place`.
    """
    if url.startswith(_UNIX):
        url = f"unix:{socket_path(url)}"
    if url.startswith("unix:"):
        return _UNIX + quote(listen_address(place, url).path, safe="")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(place, f"`{url}`: {error}", _bracketed(url)) from None
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise ConfigError(place, f"`{url}` is not an engine's address", _bracketed(url))
    if parts.username or parts.password:
        raise ConfigError(
            place, "credentials in an address end up in logs", "use api_key_env or api_key_file"
        )
    base = parts.path.rstrip("/")
    if parts.query or parts.fragment or base.endswith(_API_PATHS) or not _BASE_PATH.fullmatch(base):
        raise ConfigError(
            place,
            f"`{url}` names more than the API's base",
            "stop after the port, or after a base such as /v3",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port or PORTS[parts.scheme]}{base.removesuffix(API_BASE)}"


def socket_path(url: str) -> str:
    """Path of the Unix socket that a checked URL stands for, empty for one over TCP."""
    return unquote(urlsplit(url).netloc) if url.startswith(_UNIX) else ""


def name_of(url: str) -> str:
    """What people and labels call the endpoint at a checked URL: HOST:PORT, or unix:PATH."""
    path = socket_path(url)
    return f"unix:{path}" if path else url.partition("://")[2]


def shown_url(url: str) -> str:
    """A checked URL as people write it."""
    path = socket_path(url)
    return f"unix://{path}" if path else url


def _bracketed(url: str) -> str:
    """The cure for what is no URL, written out when it is an IPv6 address without brackets."""
    address = url.partition("://")[2] or url
    host, _, port = address.rpartition(":")
    for candidate, number in ((host, port), (address, "PORT")):
        with contextlib.suppress(ValueError):
            return (
                f"an IPv6 address stands in [ ]: write http://[{ipaddress.IPv6Address(candidate)}]:{number}"
            )
    return "write http://HOST:PORT, with an IPv6 address in [ ]"


def check_media_host(place: str, entry: str) -> None:
    """Refuse an entry of `media_urls.allow` that no URL can match. Raises ConfigError naming `place`."""
    if not _MEDIA_HOST.fullmatch(entry):
        raise ConfigError(
            place,
            f"`{entry}` matches no URL",
            "write a host name, or .example.com for all below it, without a port; http:// before it allows http too",
        )
