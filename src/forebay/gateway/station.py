"""A whole gateway in one process: a worker that is its own supervisor, with direct calls from one to the other."""

import socket
from collections.abc import Callable

from forebay.config.assemble import Assembly
from forebay.config.document import Document
from forebay.config.slots import SlotBook
from forebay.gateway.listening import bound_to, close_sockets, open_sockets, urls
from forebay.gateway.oversight import Oversight
from forebay.gateway.plans import Plans, Reload
from forebay.gateway.worker import Worker
from forebay.runtime.driver import monotonic_us
from forebay.telemetry.access_log import AccessLog


class Station(Worker):
    """One gateway: `start` opens its ports, `drain` lets it end in good order, `stop` ends it now."""

    def __init__(
        self,
        assembly: Assembly,
        access_log: AccessLog | None = None,
        clock: Callable[[], int] = monotonic_us,
        read: Callable[[], Document] | None = None,
    ) -> None:
        """Put the rooms together; nothing is opened yet. Needs a running event loop.

        `clock` is in microseconds. `read` reads the configuration anew, for a reload.
        """
        super().__init__(assembly, access_log, clock)
        self.plans = Plans(assembly, self, read, self.driver.clock)
        self.desk.plan_status = self.plans.status
        self._oversight = Oversight(assembly, self, self.saw, self.driver.clock)
        self.desk.hardware = self._oversight.hardware
        self._public_sockets: list[socket.socket] = []
        self._admin_sockets: list[socket.socket] = []

    # --- life

    async def start(self) -> None:
        """Open the ports and the eyes. Raises OSError when an address cannot be had."""
        public, admin = self.assembly.public, self.assembly.admin
        self._public_sockets = open_sockets(public.addresses, socket_mode=public.socket_mode)
        self._admin_sockets = open_sockets(admin.addresses, socket_mode=admin.socket_mode)
        await self.plans.begin()
        await self.serve(*self._public_sockets)
        await self._oversight.start(*self._admin_sockets)

    async def stop(self) -> None:
        """Close everything now. Requests that are still open are broken off."""
        await self.plans.stop()
        await self._oversight.stop()
        await super().stop()
        addresses = (*self.assembly.public.addresses, *self.assembly.admin.addresses)
        close_sockets([*self._public_sockets, *self._admin_sockets], addresses)

    @property
    def public_address(self) -> tuple[str, int]:
        """Host and port of the first public listener, as bound."""
        return bound_to(self._public_sockets[0])

    @property
    def admin_address(self) -> tuple[str, int]:
        """Host and port of the first admin listener, as bound."""
        return bound_to(self._admin_sockets[0])

    def urls(self) -> tuple[str, str]:
        """Where clients come in, and operators, as people write it."""
        public, admin = self.assembly.public, self.assembly.admin
        return urls(self._public_sockets, public.context), urls(self._admin_sockets, admin.context)

    def slots(self) -> SlotBook:
        """The slots to put the next plan together with: those of endpoints that are gone are free again."""
        living = {endpoint.slot for endpoint in self.assembly.endpoints()}
        return self.assembly.slots.released(living | self.living())

    def adopt(self, assembly: Assembly) -> None:
        """Live by a new configuration of the pools, put together with `slots()`.

        Addresses and limits of the listeners stay as they are.
        """
        super().adopt(assembly)
        self._oversight.adopt(assembly)

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """A name that endpoints are declared at stands for these addresses now."""
        super().moved(host, addresses)
        self._oversight.moved(host, addresses)

    # --- what operators ask and do

    async def is_ready(self) -> bool:
        """Whether new requests should be sent here."""
        return self.ready

    async def metrics(self, accept: str) -> tuple[str, bytes]:
        """Content type and body of `/metrics`."""
        return self.desk.metrics(accept)

    async def fleet(self) -> dict[str, object]:
        """The fleet as believed now."""
        return self.desk.endpoints()

    async def decision(self, request_id: str) -> dict[str, object] | None:
        """One request's decisions, None when they are not known."""
        return self.desk.decision(request_id)

    async def latest(self, limit: int) -> dict[str, object]:
        """The last requests' decisions, newest first."""
        return self.desk.latest(limit)

    async def drain_endpoint(self, name: str, *, draining: bool, limit_seconds: float | None = None) -> bool:
        """Empty an endpoint by name, or take it back. False when there is none of that name."""
        limit = self.assembly.file.drain.endpoint_limit_seconds if limit_seconds is None else limit_seconds
        for endpoint in self.assembly.endpoints():
            if endpoint.name == name:
                self.drain_slot(endpoint.slot, draining=draining, limit_seconds=limit)
                return True
        return False

    async def reload(self) -> Reload:
        """Live by the configuration as it stands now, or say why not."""
        return await self.plans.reload()
