"""What there is once on a host, however many workers serve: the fleet's eyes, and the port for operators."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

from forebay.config.assemble import Assembly
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.hardware import Hardware
from forebay.fleet.eyes import Eyes
from forebay.fleet.hardware.watch import HardwareWatch
from forebay.gateway.admin import Admin, Operations
from forebay.gateway.http1.budget import BufferBudget
from forebay.gateway.http1.connections import Connections
from forebay.gateway.listening import accept

log = logging.getLogger(__name__)


class Oversight:
    """Looks at the endpoints for `saw`, and answers operators by `operations`, from `start` to `stop`."""

    def __init__(
        self,
        assembly: Assembly,
        operations: Operations,
        saw: Callable[[tuple[EndpointView, ...]], None],
        clock: Callable[[], int],
    ) -> None:
        """Nothing is opened yet. `clock` is in microseconds."""
        loop = asyncio.get_running_loop()
        self._assembly = assembly
        self._loop = loop
        self._clock = clock
        self._hardware = HardwareWatch(assembly.file.hardware, clock, log.warning)
        self._way = assembly.admin
        self._servers: list[asyncio.Server] = []
        limits = assembly.file.inbound
        self._admin = Connections(loop, Admin(operations), limits, BufferBudget(limits.max_buffered_bytes))
        self._eyes = Eyes(
            assembly.endpoints(),
            saw,
            assembly.file.eyes,
            clock,
            credentials=self._key_of,
            tls=self._tls_of,
            warn=log.warning,
        )

    async def start(self, *listeners: socket.socket) -> None:
        """Answer operators at `listeners`, which are bound, and open the eyes."""
        seconds = self._admin.limits.head_timeout_seconds
        for listener in listeners:
            server = await accept(self._loop, listener, self._admin.protocol, self._way.context, seconds)
            self._servers.append(server)
        await self._eyes.start()
        self._hardware.start()

    async def stop(self) -> None:
        """Close both now."""
        for server in self._servers:
            server.close()
        self._admin.abort_all()
        await self._eyes.stop()
        await asyncio.to_thread(self._hardware.stop)

    def adopt(self, assembly: Assembly) -> None:
        """Look at the endpoints of a new plan, in its intervals."""
        if assembly.file.hardware != self._assembly.file.hardware:
            self._hardware.leave()
            self._hardware = HardwareWatch(assembly.file.hardware, self._clock, log.warning)
            self._hardware.start()
        self._assembly = assembly
        self._way.renew()
        self._admin.adopt(assembly.file.inbound)
        self._eyes.update(assembly.endpoints(), assembly.file.eyes)

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """A name that endpoints are declared at stands for these addresses now."""
        self._eyes.moved(host, addresses)

    def _tls_of(self, endpoint: Endpoint) -> ssl.SSLContext | None:
        return self._assembly.tls_of(endpoint)

    def hardware(self) -> Hardware | None:
        """What is read of this host's devices, None when nothing is."""
        return self._hardware.latest

    def _key_of(self, endpoint: Endpoint) -> str | None:
        return self._assembly.api_key_of(endpoint)
