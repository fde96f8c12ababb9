"""A whole gateway in this process, on free ports, for tests against real sockets."""

import asyncio
import io
from typing import Any, Self

import aiohttp
import msgspec

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.gateway.station import Station
from forebay.telemetry.access_log import AccessLog


class LiveGateway:
    """`async with LiveGateway([engine.url, ...]) as gateway`: serves model `m`, or the `pools` given in the file's shape.

    `settings` are further top-level settings of the configuration file. `log` collects the access log's lines.
    """

    def __init__(
        self, urls: list[str] | None = None, *, pools: list[dict[str, Any]] | None = None, **settings: Any
    ) -> None:
        """Not started yet."""
        endpoints = [{"url": url, "engine": "vllm"} for url in urls or []]
        self._data = {
            "listen": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "drain": {"lag_seconds": 0, "grace_seconds": 5},
            "pools": pools or [{"model": "m", "family": "qwen2.5-vl", "endpoints": endpoints}],
            **settings,
        }
        self.log = io.BytesIO()
        self.station: Station
        self.session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        assembly = assemble(Document.of(msgspec.to_builtins(self._data), "test"))
        self.station = Station(assembly, AccessLog(self.log))
        await self.station.start()
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.session.close()
        await self.station.stop()
        # Aborted transports close on the loop's next turn.
        await asyncio.sleep(0)

    @property
    def url(self) -> str:
        """The public port."""
        host, port = self.station.public_address
        return f"http://{host}:{port}"

    @property
    def admin_url(self) -> str:
        """The admin port."""
        host, port = self.station.admin_address
        return f"http://{host}:{port}"

    async def post(
        self, body: bytes | dict[str, Any], path: str = "/v1/chat/completions", **options: Any
    ) -> "Reply":
        """Send a body, as JSON unless it is bytes, and read the whole reply."""
        # As a file: aiohttp warns of large bodies that are given as bytes.
        data = io.BytesIO(body if isinstance(body, bytes) else msgspec.json.encode(body))
        async with self.session.post(self.url + path, data=data, **options) as response:
            return Reply(response.status, response.headers.copy(), await response.read())

    async def get(self, path: str, *, admin: bool = False) -> "Reply":
        """Ask the public or the admin port."""
        async with self.session.get((self.admin_url if admin else self.url) + path) as response:
            return Reply(response.status, response.headers.copy(), await response.read())

    def in_flight(self) -> float:
        """Requests that the conductor believes are at engines."""
        return float(sum(row.beliefs.in_flight for row in self.station.rows()))


class Reply(msgspec.Struct, frozen=True):
    """A whole reply."""

    status: int
    headers: Any
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return msgspec.json.decode(self.body)

    def error(self) -> dict[str, Any]:
        """The error object of an OpenAI-shaped error."""
        error: dict[str, Any] = self.json()["error"]
        return error
