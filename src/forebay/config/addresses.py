"""The forms of address that a file or a command line may give, each refused with its place and its cure."""

import re
from urllib.parse import urlsplit

from forebay.config.errors import ConfigError
from forebay.domain.endpoint import API_BASE

# Whoever pastes the whole address of a request means its base.
_API_PATHS = ("/completions", "/embeddings", "/messages", "/models", "/metrics", "/health")
_BASE_PATH = re.compile(r"[A-Za-z0-9._~%/-]*", re.ASCII)
# What `intake.media_urls` can match: `host`, `.host` for all below it, and either with `http://` before it.
_MEDIA_HOST = re.compile(r"(?:http://)?\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*", re.IGNORECASE | re.ASCII)


def checked_url(place: str, url: str) -> str:
    """An engine's address as http://HOST:PORT, the port written out, and its base path unless that is /v1.

    Raises ConfigError naming `place`.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(
            place, f"`{url}`: {error}", "write http://HOST:PORT, with an IPv6 address in [ ]"
        ) from None
    if parts.scheme != "http" or not parts.hostname or port == 0:
        raise ConfigError(place, f"`{url}` is not an engine's address", "write http://HOST:PORT")
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
    return f"http://{host}:{port or 80}{base.removesuffix(API_BASE)}"


def check_listener(place: str, address: str) -> None:
    """Refuse an address to listen at that is not HOST:PORT. Raises ConfigError naming `place`."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ConfigError(place, f"`{address}` is not an address", "write HOST:PORT, as 127.0.0.1:8080")


def check_media_host(place: str, entry: str) -> None:
    """Refuse an entry of `media_urls.allow` that no URL can match. Raises ConfigError naming `place`."""
    if not _MEDIA_HOST.fullmatch(entry):
        raise ConfigError(
            place,
            f"`{entry}` matches no URL",
            "write a host name, or .example.com for all below it, without a port; http:// before it allows http too",
        )
