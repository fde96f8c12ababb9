"""One worker: a conductor with its driver and its front, and a public listener for both."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable, Sequence
from typing import Any

from forebay.conductor.conductor import Conductor
from forebay.conductor.events import DrainAsked, PlanChanged, ViewChanged
from forebay.config.assemble import Assembly, PoolAssembly
from forebay.domain.endpoint import EndpointView
from forebay.gateway.front import Gateway
from forebay.gateway.http1.budget import BufferBudget
from forebay.gateway.http1.connections import Connections
from forebay.gateway.http1.upstream import Tls, Upstreams
from forebay.gateway.ingress import Ingress
from forebay.gateway.listening import accept
from forebay.gateway.pools import PoolDirectory, PoolWire
from forebay.gateway.recording import recorder_of
from forebay.gateway.seat import ALONE, Seat
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


class Worker:
    """Serves requests by what it is told of the fleet: `serve` begins, `drain` ends in good order, `stop` ends now."""

    def __init__(
        self,
        assembly: Assembly,
        access_log: AccessLog | None = None,
        clock: Callable[[], int] = monotonic_us,
        seat: Seat = ALONE,
    ) -> None:
        """Put the rooms together; nothing is opened yet. Needs a running event loop.

        `clock` is in microseconds. `seat` is this worker's place among several.
        """
        loop = asyncio.get_running_loop()
        self.assembly = assembly
        self.draining = False
        self._loop = loop
        self._servers: list[asyncio.Server] = []
        self._engines: dict[int, str] = {}  # as found out, by slot
        self._adapters: dict[str, tuple[str, ...]] = {}  # as declared and reported, by model
        self.desk = Desk(_names(assembly), self.rows, clock, access_log)
        at = clock()
        self.conductor = Conductor(
            assembly.plan,
            seed=assembly.file.seed,
            at=at,
            worker=seat.worker,
            workers=seat.workers,
        )
        self._seat = seat
        self._recorder = recorder_of(self.conductor, assembly, seat, at)
        mind, publish = seat.among_peers(self._recorder or self.conductor, self.conductor)
        self.driver = Driver(mind, self.desk.observers, loop, clock, publish)
        if self._recorder is not None:
            self.desk.lost = self._recorder.losses
        self._way = assembly.public
        self.upstreams = Upstreams(loop, connect_timeout_seconds=_longest_connect(assembly))
        self.upstreams.secure(_tls(assembly))
        inbound = seat.part_of(assembly.file.inbound)
        self.budget = BufferBudget(inbound.max_buffered_bytes)
        self.gateway = Gateway(
            self.driver,
            self.upstreams,
            self._directory(),
            loop,
            self.desk.observers.served,
            lambda model: self.desk.counters.gaps(model).add,
            self.budget,
        )
        self._ingress = Ingress(
            self.gateway, assembly.intake, inbound.max_body_bytes, assembly.keys, seat.mark
        )
        self._public = Connections(loop, self._ingress, inbound, self.budget)

    def story(self, request_id: str) -> dict[str, Any] | None:
        """What is known of a request, by its own id or by the one that its client sees."""
        return self.desk.decision(request_id) or self.desk.decision(request_id + self._seat.mark)

    # --- life

    async def serve(self, *listeners: socket.socket) -> None:
        """Take connections from `listeners`, which are bound, and begin to watch timeouts."""
        seconds = self._public.limits.head_timeout_seconds
        for listener in listeners:
            server = await accept(self._loop, listener, self._public.protocol, self._way.context, seconds)
            self._servers.append(server)
        self.gateway.start()
        # What is here now lives as long as the process: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        # Requests leave no cycles worth a search every 700 allocations: that cost 3 % of the path.
        gc.set_threshold(GC_ALLOCATIONS)

    async def drain(self, *, lag: bool = True) -> None:
        """Say that this worker is leaving, stop listening after the lag, and let open requests end within the grace."""
        self.draining = True
        self._public.draining = True
        settings = self.assembly.file.drain
        await asyncio.sleep(settings.lag_seconds if lag else 0)
        self._close_listeners()
        self._public.close_idle()
        deadline = self._loop.time() + settings.grace_seconds
        while (self.gateway.exchanges or self._public.busy) and self._loop.time() < deadline:
            await asyncio.sleep(0.05)
            self._public.close_idle()

    async def stop(self) -> None:
        """Close everything now. Requests that are still open are broken off."""
        self._close_listeners()
        self.gateway.stop()
        self._public.abort_all()
        self.driver.close()
        self.desk.close()
        if self._recorder is not None:
            self._recorder.close()
        gc.unfreeze()

    # --- what it is told

    def saw(self, views: tuple[EndpointView, ...]) -> None:
        """The fleet's eyes have seen these endpoints."""
        self.driver.feed(ViewChanged(self.driver.clock(), views))
        known = {model: tuple(pool.adapters.names) for model, pool in self.conductor.pools.items()}
        if known != self._adapters:
            self._adapters = known
            self._redirect()
        if any(self._engines.get(view.slot) != view.engine for view in views if view.engine):
            self._engines |= {view.slot: view.engine for view in views if view.engine}
            for endpoint in self.assembly.endpoints():
                if self._engines.get(endpoint.slot) in THREAD_PER_CONNECTION:
                    self.upstreams.keep_at_most(endpoint.url, IDLE_WHERE_A_THREAD_WAITS)
            self._redirect()

    def adopt(self, assembly: Assembly) -> None:
        """Live by a new plan, and by the new keys and limits. Requests that are open go on as they began."""
        self.assembly = assembly
        inbound = self._seat.part_of(assembly.file.inbound)
        self._ingress.adopt(assembly.intake, inbound.max_body_bytes, assembly.keys)
        self._public.adopt(inbound)
        self.budget.max_bytes = inbound.max_buffered_bytes
        self._way.renew()
        self.upstreams.connect_timeout_seconds = _longest_connect(assembly)
        self.upstreams.secure(_tls(assembly))
        current = {endpoint.slot for endpoint in assembly.endpoints()}
        self._engines = {slot: engine for slot, engine in self._engines.items() if slot in current}
        self._redirect()
        if self._recorder is not None:
            self._recorder.adopt(assembly.recipe)
        self.driver.feed(PlanChanged(self.driver.clock(), assembly.plan))

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """A name that endpoints are declared at stands for these addresses now."""
        self.upstreams.moved(host, addresses)

    def drain_slot(self, slot: int, *, draining: bool, limit_seconds: float) -> None:
        """Empty an endpoint, or take it back."""
        limit_us = round(limit_seconds * SECOND_US)
        self.driver.feed(DrainAsked(self.driver.clock(), slot, draining, limit_us))

    # --- what it is asked

    @property
    def ready(self) -> bool:
        """Whether some endpoint can take a request, and this worker is not leaving."""
        return not self.draining and any(
            row.beliefs.usable and not row.beliefs.draining for row in self.rows() if row.beliefs is not None
        )

    def rows(self) -> Sequence[EndpointRow]:
        """Every endpoint as declared, as seen, and as believed now."""
        return [
            EndpointRow(pool.plan.model, pool.endpoint(slot), pool.views.get(slot), pool.row(slot))
            for pool in self.conductor.pools.values()
            for slot in pool.slots()
        ]

    def living(self) -> set[int]:
        """Slots of every endpoint that something is still known of, those that are leaving too."""
        return set().union(*(pool.slots() for pool in self.conductor.pools.values()))

    # --- inside

    def _redirect(self) -> None:
        self.gateway.directory = self._directory()
        self.desk.counters.rename(self.gateway.directory.names())

    def _directory(self) -> PoolDirectory:
        """The pools as the wire sees them: engines apply one family's rules in their own ways."""
        return PoolDirectory(tuple(self._wire(pool) for pool in self.assembly.pools), self.assembly.id_key)

    def _wire(self, pool: PoolAssembly) -> PoolWire:
        engines = {self._engines.get(endpoint.slot, endpoint.engine) for endpoint in pool.plan.endpoints}
        return PoolWire(
            model=pool.plan.model,
            names=(pool.plan.model, *pool.plan.aliases),
            adapters=(*pool.plan.adapters, *self._adapters.get(pool.plan.model, ())),
            family=pool.family.on(engines.pop() if len(engines) == 1 else ""),
            timeouts=pool.file.timeouts,
            api_key=pool.api_key,
            forward_auth=pool.file.forward_auth,
            ask_usage=pool.file.ask_usage,
            heartbeat_seconds=pool.file.heartbeat_seconds,
            homes=tuple((endpoint.slot, endpoint.url) for endpoint in pool.plan.endpoints),
        )

    def _close_listeners(self) -> None:
        for server in self._servers:
            server.close()


def _longest_connect(assembly: Assembly) -> float:
    """Each exchange watches its own pool's limit; this is the last resort."""
    return max(pool.file.timeouts.connect_seconds for pool in assembly.pools)


def _tls(assembly: Assembly) -> dict[str, Tls]:
    """What each https endpoint is talked to with."""
    return {
        endpoint.url: Tls(pool.tls, endpoint.host)
        for pool in assembly.pools
        for endpoint in pool.plan.endpoints
        if pool.tls is not None and endpoint.url.startswith("https:")
    }


def _names(assembly: Assembly) -> dict[str, str]:
    return {name: pool.model for pool in assembly.plan.pools for name in pool.names}
