"""Questions to a running gateway's admin port, wherever it listens."""

import http.client
import json
import socket
from typing import Any

ASK_SECONDS = 5.0
"""An admin port on the same network answers in milliseconds."""


class NoAnswerError(Exception):
    """Nobody answered as an admin port does. The message says where, why, and what to do."""


def shown(admin: str) -> str:
    """An address as given, HOST:PORT, a URL or unix:/PATH, as people and messages have it."""
    return admin if "://" in admin or admin.startswith("unix:") else f"http://{admin}"


def ask(admin: str, path: str) -> tuple[int, Any]:
    """Status and JSON of the page at `path`. Raises NoAnswerError."""
    try:
        connection = _connection(shown(admin))
        try:
            connection.request("GET", path)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswerError(
            f"no gateway answers at {admin}: {error or type(error).__name__}; "
            "--admin says where its `admin` listener is"
        ) from None


def code_of(page: Any) -> str:
    """The code of an error page, empty for another."""
    error = page.get("error") if isinstance(page, dict) else None
    return str(error.get("code", "")) if isinstance(error, dict) else ""


def not_the_admin_port(admin: str, status: int, path: str) -> NoAnswerError:
    """What to say of a port that answers, and has no such page."""
    return NoAnswerError(
        f"{shown(admin)} says {status} to {path}: is this the admin port, and not the public one?"
    )


def _connection(address: str) -> http.client.HTTPConnection:
    if address.startswith("unix:"):
        return _OverUnixSocket("/" + address.removeprefix("unix:").lstrip("/"))
    scheme, _, place = address.partition("://")
    if scheme == "https":
        return http.client.HTTPSConnection(place.rstrip("/"), timeout=ASK_SECONDS)
    if scheme == "http":
        return http.client.HTTPConnection(place.rstrip("/"), timeout=ASK_SECONDS)
    raise ValueError("it is neither HOST:PORT, nor a URL of http or https, nor unix:/PATH")


class _OverUnixSocket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=ASK_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the path."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
