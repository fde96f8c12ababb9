"""One small HTTP question to an endpoint, bounded in time and size."""

import ssl
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import aiohttp
import msgspec

from forebay.config.addresses import socket_path
from forebay.domain.endpoint import Endpoint, path_at

MAX_REPLY_BYTES = 8 * 1024 * 1024
"""vLLM with eight ranks and LoRA answers some 300 KB of metrics; a reply beyond this is no reply of an engine."""

_USER_AGENT = "forebay-eyes"


class Reply(NamedTuple):
    """An answer. `server` is its Server header, lower case."""

    status: int
    server: str
    body: bytes

    @property
    def good(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.status < 300

    @property
    def offered(self) -> bool:
        """Whether the path exists there at all, whatever it thought of the question."""
        return self.status not in {404, 405, 501}

    def json(self) -> Any:
        """Return the body as JSON when it is a 2xx and JSON, else None."""
        if not self.good:
            return None
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


class Caller(Protocol):
    """Asks one endpoint."""

    async def __call__(self, path: str, body: bytes | None = None) -> Reply | None:
        """GET `path`, or POST `body` as JSON. A path in /v1 is asked where the endpoint has its API. None when there was no whole answer in time."""
        ...


def _system_authorities(_endpoint: Endpoint) -> ssl.SSLContext | None:
    return None


class HttpCaller:
    """A caller over a shared aiohttp session, to the port of the endpoint's address or to another one of its host.

    Follows no redirect, and uses no proxy of the environment: credentials go to the declared address only.
    `trouble` says what was wrong with the last answer, for people; empty when it was good.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        endpoint: Endpoint,
        timeout_seconds: float,
        credentials: Callable[[Endpoint], str | None],
        port: int = 0,
        tls: Callable[[Endpoint], ssl.SSLContext | None] = _system_authorities,
    ) -> None:
        self._session = session
        self._tls = tls
        self._endpoint = endpoint
        self._origin = _origin(endpoint.url, port)
        self._host = endpoint.host and f"{endpoint.host}:{urlsplit(self._origin).port}"
        self._timeout = aiohttp.ClientTimeout(total=timeout_seconds)
        self._credentials = credentials
        self.trouble = ""

    async def __call__(self, path: str, body: bytes | None = None) -> Reply | None:
        """Ask, and read at most MAX_REPLY_BYTES."""
        try:
            async with self._session.request(
                "GET" if body is None else "POST",
                self._origin + path_at(self._endpoint.url, path),
                data=body,
                headers=self._headers(body),
                timeout=self._timeout,
                allow_redirects=False,
                ssl=self._tls(self._endpoint) or True,
                server_hostname=self._endpoint.host or None,
            ) as response:
                reply = await _whole(response)
        except TimeoutError:
            self.trouble = f"no whole answer within {self._timeout.total:g} s"
            return None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # ValueError: a header that aiohttp's parser takes and its types refuse.
            self.trouble = str(error) or type(error).__name__
            return None
        self.trouble = _trouble(path, reply)
        return reply

    def _headers(self, body: bytes | None) -> dict[str, str]:
        # Compressing its metrics twice a second would cost the engine more than the bytes cost the network.
        headers = {"Accept-Encoding": "identity", "User-Agent": _USER_AGENT}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._host:
            headers["Host"] = self._host
        key = self._credentials(self._endpoint)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return headers


def _trouble(path: str, reply: Reply | None) -> str:
    if reply is None:
        return f"{path} is answered with more than {MAX_REPLY_BYTES} bytes"
    return "" if reply.good else f"{path} is answered with {reply.status}"


def _origin(url: str, port: int) -> str:
    if socket_path(url):
        return "http://localhost"
    parts = urlsplit(url)
    netloc = parts.netloc
    if port:
        netloc = netloc.removesuffix(f":{parts.port}") + f":{port}"
    return f"{parts.scheme}://{netloc}"


async def _whole(response: aiohttp.ClientResponse) -> Reply | None:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            return None
    return Reply(response.status, response.headers.get("Server", "").lower(), bytes(body))
