"""A whole gateway in one process: the rooms put together, its ports opened, drained and closed."""

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence

from forebay.conductor.conductor import Conductor
from forebay.conductor.events import DrainAsked, PlanChanged, ViewChanged
from forebay.config.assemble import Assembly, PoolAssembly, family_on
from forebay.config.slots import SlotBook
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.fleet.eyes import Eyes
from forebay.gateway.admin import Admin
from forebay.gateway.front import Gateway
from forebay.gateway.http1.budget import BufferBudget
from forebay.gateway.http1.connections import Connections
from forebay.gateway.http1.message import Handler
from forebay.gateway.http1.upstream import Upstreams
from forebay.gateway.ingress import Ingress
from forebay.gateway.pools import PoolDirectory, PoolWire
from forebay.runtime.driver import Driver, monotonic_us
from forebay.telemetry.access_log import AccessLog
from forebay.telemetry.desk import Desk
from forebay.telemetry.endpoints_json import EndpointRow

log = logging.getLogger(__name__)

SECOND_US = 1_000_000
# llama.cpp's server gives each connection a thread of a small pool for as long as it stands: idle ones lock others out
# until they time out (5 s; seen: 1 to 9 of 24 new connections waited that long).
THREAD_PER_CONNECTION = frozenset({"llama.cpp"})
IDLE_WHERE_A_THREAD_WAITS = 2
GC_ALLOCATIONS = 50_000
# A burst of new connections waits here while the loop is busy; Linux caps it at net.core.somaxconn.
BACKLOG = 4096


class Station:
    """One gateway: `start` opens its ports, `drain` lets it end in good order, `stop` ends it now."""

    def __init__(
        self,
        assembly: Assembly,
        access_log: AccessLog | None = None,
        clock: Callable[[], int] = monotonic_us,
    ) -> None:
        """Put the rooms together; nothing is opened yet. Needs a running event loop. `clock` is in microseconds."""
        loop = asyncio.get_running_loop()
        self.assembly = assembly
        self.draining = False
        self._loop = loop
        self._servers: list[asyncio.Server] = []
        self._engines: dict[int, str] = {}  # as found out, by slot
        self.desk = Desk(_names(assembly), self.rows, self._clock, access_log)
        self.conductor = Conductor(assembly.plan, seed=assembly.file.seed, at=clock())
        self.driver = Driver(self.conductor, self.desk.observers, loop, clock)
        # Each exchange watches its own pool's limit; this is the last resort.
        longest = max(pool.file.timeouts.connect_seconds for pool in assembly.pools)
        self.upstreams = Upstreams(loop, connect_timeout_seconds=longest)
        budget = BufferBudget(assembly.file.inbound.max_buffered_bytes)
        self.gateway = Gateway(
            self.driver,
            self.upstreams,
            self._directory(),
            loop,
            self.desk.observers.served,
            lambda model: self.desk.counters.gaps(model).add,
            budget,
        )
        self._ingress = Ingress(
            self.gateway, assembly.intake, assembly.file.inbound.max_body_bytes, assembly.keys
        )
        self._public = Connections(loop, self._ingress, assembly.file.inbound, budget)
        self._admin = self._connections(Admin(self.desk, self), budget)
        self._eyes = Eyes(
            assembly.endpoints(),
            self._saw,
            assembly.file.eyes,
            clock,
            credentials=self._key_of,
            warn=log.warning,
        )

    # --- life

    async def start(self) -> None:
        """Open the ports and the eyes. Raises OSError when an address cannot be had."""
        await self._listen(self._public, self.assembly.file.listen)
        await self._listen(self._admin, self.assembly.file.admin)
        await self._eyes.start()
        self.gateway.start()
        # What is here now lives as long as the process: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        # Requests leave no cycles worth a search every 700 allocations: that cost 3 % of the path.
        gc.set_threshold(GC_ALLOCATIONS)

    async def drain(self) -> None:
        """Say 503 on `/ready` at once, stop listening after the lag, and let open requests end within the grace."""
        self.draining = True
        self._public.draining = True
        settings = self.assembly.file.drain
        await asyncio.sleep(settings.lag_seconds)
        for server in self._servers[:1]:
            server.close()
        self._public.close_idle()
        deadline = self._loop.time() + settings.grace_seconds
        while (self.gateway.exchanges or self._public.busy) and self._loop.time() < deadline:
            await asyncio.sleep(0.05)
            self._public.close_idle()

    async def stop(self) -> None:
        """Close everything now. Requests that are still open are broken off."""
        for server in self._servers:
            server.close()
        self.gateway.stop()
        self._public.abort_all()
        self._admin.abort_all()
        await self._eyes.stop()
        self.driver.close()
        self.desk.close()
        gc.unfreeze()

    @property
    def public_address(self) -> tuple[str, int]:
        """Host and port of the public listener, as bound."""
        return _bound(self._servers[0])

    @property
    def admin_address(self) -> tuple[str, int]:
        """Host and port of the admin listener, as bound."""
        return _bound(self._servers[1])

    def slots(self) -> SlotBook:
        """The slots to put the next plan together with: those of endpoints that are gone are free again."""
        living = {endpoint.slot for endpoint in self.assembly.endpoints()}
        return self.assembly.slots.released(living.union(*(p.slots() for p in self.conductor.pools.values())))

    def adopt(self, assembly: Assembly) -> None:
        """Live by a new configuration of the pools, put together with `slots()`.

        Addresses and limits of the listeners stay as they are.
        """
        self.assembly = assembly
        current = {endpoint.slot for endpoint in assembly.endpoints()}
        self._engines = {slot: engine for slot, engine in self._engines.items() if slot in current}
        self.gateway.directory = self._directory()
        self.desk.counters.rename(_names(assembly))
        self.driver.feed(PlanChanged(self._clock(), assembly.plan))
        self._eyes.update(assembly.endpoints())

    # --- what operators ask and do

    @property
    def ready(self) -> bool:
        """Whether some endpoint can take a request, and this gateway is not leaving."""
        return not self.draining and any(
            row.beliefs.usable and not row.beliefs.draining for row in self.rows() if row.beliefs is not None
        )

    def drain_endpoint(self, name: str, *, draining: bool, limit_seconds: float | None = None) -> bool:
        """Empty an endpoint by name, or take it back. False when there is none of that name."""
        limit = self.assembly.file.drain.endpoint_limit_seconds if limit_seconds is None else limit_seconds
        for endpoint in self.assembly.endpoints():
            if endpoint.name == name:
                event = DrainAsked(self._clock(), endpoint.slot, draining, round(limit * SECOND_US))
                self.driver.feed(event)
                return True
        return False

    def rows(self) -> Sequence[EndpointRow]:
        """Every endpoint as declared, as seen, and as believed now."""
        return [
            EndpointRow(pool.plan.model, pool.endpoint(slot), pool.views.get(slot), pool.row(slot))
            for pool in self.conductor.pools.values()
            for slot in pool.slots()
        ]

    # --- inside

    def _key_of(self, endpoint: Endpoint) -> str | None:
        return self.assembly.api_key_of(endpoint)

    def _clock(self) -> int:
        return self.driver.clock()

    def _saw(self, views: tuple[EndpointView, ...]) -> None:
        self.driver.feed(ViewChanged(self._clock(), views))
        if any(self._engines.get(view.slot) != view.engine for view in views if view.engine):
            self._engines |= {view.slot: view.engine for view in views if view.engine}
            for endpoint in self.assembly.endpoints():
                if self._engines.get(endpoint.slot) in THREAD_PER_CONNECTION:
                    self.upstreams.keep_at_most(endpoint.url, IDLE_WHERE_A_THREAD_WAITS)
            self.gateway.directory = self._directory()

    def _directory(self) -> PoolDirectory:
        """The pools as the wire sees them: engines apply one family's rules in their own ways."""
        return PoolDirectory(tuple(self._wire(pool) for pool in self.assembly.pools))

    def _wire(self, pool: PoolAssembly) -> PoolWire:
        engines = {self._engines.get(endpoint.slot, endpoint.engine) for endpoint in pool.plan.endpoints}
        return PoolWire(
            model=pool.plan.model,
            names=pool.plan.names,
            family=family_on(pool, engines.pop()) if len(engines) == 1 else pool.family,
            timeouts=pool.file.timeouts,
            api_key=pool.api_key,
            forward_auth=pool.file.forward_auth,
            ask_usage=pool.file.ask_usage,
            heartbeat_seconds=pool.file.heartbeat_seconds,
        )

    def _connections(self, handler: Handler, budget: BufferBudget) -> Connections:
        return Connections(self._loop, handler, self.assembly.file.inbound, budget)

    async def _listen(self, connections: Connections, address: str) -> None:
        host, _, port = address.rpartition(":")
        server = await self._loop.create_server(
            connections.protocol, host.strip("[]"), int(port), backlog=BACKLOG, reuse_address=True
        )
        self._servers.append(server)


def _names(assembly: Assembly) -> dict[str, str]:
    return {name: pool.model for pool in assembly.plan.pools for name in pool.names}


def _bound(server: asyncio.Server) -> tuple[str, int]:
    host, port = server.sockets[0].getsockname()[:2]
    return host, port
