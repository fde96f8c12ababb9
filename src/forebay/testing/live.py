"""A whole gateway in this process, on free ports, for tests against real sockets."""

import asyncio
import io
from collections.abc import Callable
from typing import Any, Self

import aiohttp
import msgspec

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.gateway.station import Station
from forebay.gateway.supervisor import Supervisor
from forebay.runtime.driver import monotonic_us
from forebay.telemetry.access_log import AccessLog


class LiveGateway:
    """`async with LiveGateway([engine.url, ...]) as gateway`: serves model `m`, or the `pools` given in the file's shape.

    `settings` are further top-level settings of the configuration file, which is `data`. `log` collects the access log's lines, all of
    which are there once the gateway is closed. `clock` gives the microseconds that deadlines are measured by.

    With `workers=2` or more it is a `supervisor` with real processes: they have a clock of their own, and write their log
    to the file that `access_log` names, or not at all.
    """

    def __init__(
        self,
        urls: list[str] | None = None,
        *,
        pools: list[dict[str, Any]] | None = None,
        clock: Callable[[], int] = monotonic_us,
        **settings: Any,
    ) -> None:
        """Not started yet."""
        endpoints = [{"url": url, "engine": "vllm"} for url in urls or []]
        self.data = {
            "listen": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "drain": {"lag_seconds": 0, "grace_seconds": 5},
            "pools": pools or [{"model": "m", "family": "qwen2.5-vl", "endpoints": endpoints}],
            **settings,
        }
        self.log = io.BytesIO()
        self._clock = clock
        self.station: Station
        self.supervisor: Supervisor
        self.session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._whole = self._made()
        try:
            await self._whole.start()
        except BaseException:
            await self._whole.stop()
            raise
        self.session = aiohttp.ClientSession()
        return self

    @property
    def _several(self) -> bool:
        return bool(self.data.get("workers", 1) != 1)

    def _made(self) -> Station | Supervisor:
        if not self._several:
            self.station = Station(assemble(self._read()), AccessLog(self.log), self._clock, read=self._read)
            return self.station
        self.data.setdefault("access_log", {"path": "off"})
        self.supervisor = Supervisor(assemble(self._read()), self._read)
        return self.supervisor

    async def __aexit__(self, *_exception: object) -> None:
        await self.session.close()
        await self._whole.stop()
        # Aborted transports close on the loop's next turn.
        await asyncio.sleep(0)

    async def reload(self, **settings: Any) -> "Reply":
        """Change the file, and have it read anew by the admin port."""
        self.data |= settings
        async with self.session.post(f"{self.admin_url}/forebay/reload") as response:
            return Reply(response.status, response.headers.copy(), await response.read())

    def _read(self) -> Document:
        return Document.of(msgspec.to_builtins(self.data), "test")

    @property
    def url(self) -> str:
        """The public port."""
        host, port = self._whole.public_address
        return f"http://{host}:{port}"

    @property
    def admin_url(self) -> str:
        """The admin port."""
        host, port = self._whole.admin_address
        return f"http://{host}:{port}"

    async def post(
        self, body: bytes | dict[str, Any], path: str = "/v1/chat/completions", **options: Any
    ) -> "Reply":
        """Send a body, as JSON unless it is bytes, and read the whole reply."""
        # As a file: aiohttp warns of large bodies that are given as bytes.
        data = io.BytesIO(body if isinstance(body, bytes) else msgspec.json.encode(body))
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        async with self.session.post(self.url + path, data=data, headers=headers, **options) as response:
            return Reply(response.status, response.headers.copy(), await response.read())

    async def get(self, path: str, *, admin: bool = False) -> "Reply":
        """Ask the public or the admin port."""
        async with self.session.get((self.admin_url if admin else self.url) + path) as response:
            return Reply(response.status, response.headers.copy(), await response.read())

    async def story(self, request_id: str) -> dict[str, Any]:
        """What the admin port tells of a request: its demand, its decisions, its outcome. Raises KeyError if nothing."""
        reply = await self.get(f"/forebay/decisions/{request_id}", admin=True)
        if reply.status == 404:
            raise KeyError(request_id)
        story: dict[str, Any] = reply.json()
        return story

    def in_flight(self) -> float:
        """Requests that the conductor, or all of them, believe are at engines."""
        if self._several:
            return float(self.supervisor.crew.in_flight())
        return float(sum(row.beliefs.in_flight for row in self.station.rows()))

    def idle(self) -> bool:
        """Nothing is open, in the conductor's belief, in its books, and on the wire. Of several workers, in their books."""
        if self._several:
            return not self.in_flight()
        station = self.station
        return not (self.in_flight() or station.gateway.exchanges or station.conductor.open_requests)

    async def settled(self, seconds: float = 30.0) -> None:
        """Wait until nothing is open. Raises TimeoutError after so long."""
        async with asyncio.timeout(seconds):
            while not self.idle():  # noqa: ASYNC110 - nothing tells when the last counter is back
                await asyncio.sleep(0.005)

    def lines(self) -> list[dict[str, Any]]:
        """The access log's lines, once the gateway is closed."""
        return [msgspec.json.decode(line) for line in self.log.getvalue().splitlines()]


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
