"""A whole gateway of several processes: what there is once on a host is here, and each worker is a process of its own."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from itertools import chain
from typing import Any

from forebay.config.assemble import Assembly
from forebay.config.document import Document
from forebay.config.slots import SlotBook
from forebay.config.ways_in import ListenAddress
from forebay.domain.endpoint import EndpointView
from forebay.gateway.crew import Crew
from forebay.gateway.listening import (
    BACKLOG,
    bound_to,
    check_free,
    close_sockets,
    open_sockets,
    path_of,
    remove_stale,
    urls,
)
from forebay.gateway.oversight import Oversight
from forebay.gateway.plans import Plans, Reload
from forebay.runtime.driver import monotonic_us
from forebay.telemetry.endpoints_json import fleet
from forebay.telemetry.hardware import hardware_families, hardware_json
from forebay.telemetry.plan_families import plan_families
from forebay.telemetry.prometheus import ForebayCollector, exposition
from forebay.telemetry.served import together
from forebay.telemetry.tally import summed
from forebay.telemetry.worker_families import worker_families

# Beyond lag and grace a worker has only to write its log.
PATIENCE_SECONDS = 5.0


class Supervisor:
    """One gateway: `start` opens its ports, `drain` lets it end in good order, `stop` ends it now. It serves nothing itself."""

    def __init__(self, assembly: Assembly, read: Callable[[], Document] | None = None) -> None:
        """Nothing is opened yet. Needs a running event loop. `read` reads the configuration anew, for a reload."""
        self.assembly = assembly
        self.draining = False
        self.crew: Crew
        self.plans = Plans(assembly, self, read, monotonic_us)
        self._oversight = Oversight(assembly, self, self._saw, monotonic_us)
        self._public: list[list[socket.socket]] = []  # by worker
        self._admin: list[socket.socket] = []
        self._paths: list[str] = []

    # --- life

    async def start(self) -> None:
        """Open the ports, start the workers, and open the eyes. Raises OSError when an address cannot be had."""
        admin = self.assembly.admin
        self._admin = open_sockets(admin.addresses, socket_mode=admin.socket_mode)
        self._open_public()
        self.crew = Crew(self.assembly, self._public)
        await self.plans.begin()
        await self._oversight.start(*self._admin)
        await self.crew.start()

    async def drain(self) -> None:
        """Say 503 on `/ready` at once; each worker stops listening after the lag, and has the grace for what is open."""
        self.draining = True
        self.crew.leave()
        settings = self.assembly.file.drain
        await asyncio.sleep(settings.lag_seconds)
        self._close_public()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(settings.grace_seconds + PATIENCE_SECONDS):
                await self.crew.ended()

    async def stop(self) -> None:
        """End all workers now, and close everything."""
        await self.plans.stop()
        if hasattr(self, "crew"):
            await self.crew.stop()
        await self._oversight.stop()
        self._close_public()
        close_sockets(self._admin)
        for path in self._paths:
            with contextlib.suppress(OSError):
                remove_stale(path)

    @property
    def public_address(self) -> tuple[str, int]:
        """Host and port of the first public listener, as bound."""
        return bound_to(self._public[0][0])

    @property
    def admin_address(self) -> tuple[str, int]:
        """Host and port of the first admin listener, as bound."""
        return bound_to(self._admin[0])

    def urls(self) -> tuple[str, str]:
        """Where clients come in, and operators, as people write it."""
        public, admin = self.assembly.public, self.assembly.admin
        return urls(self._public[0], public.context), urls(self._admin, admin.context)

    def slots(self) -> SlotBook:
        """The slots to put the next plan together with: those of endpoints that are gone are free again."""
        living = {endpoint.slot for endpoint in self.assembly.endpoints()}
        return self.assembly.slots.released(living | self.crew.living())

    def adopt(self, assembly: Assembly) -> None:
        """Live by a new configuration of the pools, put together with `slots()`."""
        self.assembly = assembly
        self.crew.adopt(assembly)
        self._oversight.adopt(assembly)

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """A name that endpoints are declared at stands for these addresses now."""
        self.crew.moved(host, addresses)
        self._oversight.moved(host, addresses)

    # --- what operators ask and do

    async def is_ready(self) -> bool:
        """Whether new requests should be sent here: some worker takes them."""
        return not self.draining and any(state.ready for state in await self.crew.states())

    async def metrics(self, accept: str) -> tuple[str, bytes]:
        """Content type and body of `/metrics`: counts of all workers, and beliefs once."""
        states, seen = await asyncio.gather(self.crew.states(), self.crew.fleet())
        tally = summed([state.tally for state in states])
        rows = [row.row() for row in seen.rows] if seen else []
        losses: dict[str, int] = {}
        for name, count in chain.from_iterable(state.losses.items() for state in states):
            losses[name] = losses.get(name, 0) + count
        devices = hardware_families(self._oversight.hardware(), rows, monotonic_us())
        families = (*plan_families(self.plans.status()), *worker_families(self.crew.statuses()), *devices)
        collector = ForebayCollector(
            lambda: tally, lambda: rows, monotonic_us, lambda: losses, lambda: families
        )
        return exposition(collector, accept)

    async def fleet(self) -> dict[str, object]:
        """The fleet as believed now, with what all workers have served lately."""
        seen = await self.crew.fleets()
        rows = [row.row() for row in seen[0].rows] if seen else []
        page = fleet(rows, together(each.served for each in seen), monotonic_us())
        hardware_json(page, rows, self._oversight.hardware())
        return page

    async def decision(self, request_id: str) -> dict[str, Any] | None:
        """One request's decisions, None when they are not known."""
        return await self.crew.story(request_id)

    async def latest(self, limit: int) -> dict[str, object]:
        """The last requests' decisions, newest first."""
        return {"at_us": monotonic_us(), "requests": await self.crew.latest(limit)}

    async def drain_endpoint(self, name: str, *, draining: bool, limit_seconds: float | None = None) -> bool:
        """Empty an endpoint by name, or take it back; done when every worker knows. False when there is none of that name."""
        limit = self.assembly.file.drain.endpoint_limit_seconds if limit_seconds is None else limit_seconds
        for endpoint in self.assembly.endpoints():
            if endpoint.name == name:
                self.crew.drain_slot(endpoint.slot, draining=draining, limit_seconds=limit)
                await self.crew.caught_up()
                return True
        return False

    async def reload(self) -> Reload:
        """Live by the configuration as it stands now, or say why not; done when every worker does."""
        done = await self.plans.reload()
        await self.crew.caught_up()
        return done

    # --- inside

    def _saw(self, views: tuple[EndpointView, ...]) -> None:
        self.crew.saw(views)

    def _open_public(self) -> None:
        way = self.assembly.public
        check_free(way.addresses)
        first = open_sockets(way.addresses, socket_mode=way.socket_mode, reuse_port=True)
        self._public = [first]
        self._paths = [path for each in first if (path := path_of(each))]
        for _ in range(self.assembly.file.workers - 1):
            self._public.append([_beside(each) for each in first])
        for each in chain(*self._public):
            # From here on the kernel keeps connections for a worker that is not there yet, or not any more.
            each.listen(BACKLOG)

    def _close_public(self) -> None:
        for each in chain(*self._public):
            each.close()


def _beside(first: socket.socket) -> socket.socket:
    """Another way in at the same address. The kernel spreads connections over TCP sockets; a Unix socket is shared."""
    if first.family == socket.AF_UNIX:
        return first.dup()
    (opened,) = open_sockets([ListenAddress(*bound_to(first))], reuse_port=True)
    return opened
