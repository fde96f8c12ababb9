"""The fleet's eyes: a watcher per endpoint, spread over the interval, their views handed on in batches."""

import asyncio
import contextlib
import random
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Self
from urllib.parse import urlsplit

import aiohttp

from forebay.config.settings import EyesSettings
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.fleet.caller import HttpCaller
from forebay.fleet.session import open_session
from forebay.fleet.watcher import Watcher

DEFAULTS = EyesSettings()

BATCH_SECONDS = 0.05
"""Views are handed on at most this often: at 2,000 scrapes a second that is a hundred views at a time."""

Sink = Callable[[tuple[EndpointView, ...]], None]
Credentials = Callable[[Endpoint], str | None]
Warn = Callable[[str], None]


def monotonic_us() -> int:
    """Microseconds of the monotonic clock, the one that events are stamped with."""
    return time.monotonic_ns() // 1000


def _no_key(_endpoint: Endpoint) -> str | None:
    return None


def _no_tls(_endpoint: Endpoint) -> ssl.SSLContext | None:
    return None


def _no_warning(_sentence: str) -> None:
    return None


class Eyes:
    """Looks at every endpoint from `start` to `stop`, and calls `sink` with views that are new.

    `credentials` gives the bearer key for an endpoint, asked anew for each question and never kept or logged, and so is `tls`,
    what it is talked to with. `warn` takes sentences for an operator. `clock` is in microseconds. Use it as `async with Eyes(...)`,
    or call start and stop.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        sink: Sink,
        settings: EyesSettings = DEFAULTS,
        clock: Callable[[], int] = monotonic_us,
        *,
        credentials: Credentials = _no_key,
        tls: Callable[[Endpoint], ssl.SSLContext | None] = _no_tls,
        warn: Warn = _no_warning,
        rng: random.Random | None = None,
    ) -> None:
        self._endpoints = {endpoint.slot: endpoint for endpoint in endpoints}
        self._settings = settings
        self._clock = clock
        self._credentials = credentials
        self._tls = tls
        self._warn = warn
        self._rng = rng or random.Random()
        self._batch = _Batch(sink, BATCH_SECONDS)
        self._turn = asyncio.Semaphore(settings.max_concurrent)
        self._open = False
        self._addresses: dict[str, tuple[str, ...]] = {}  # by name
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._going: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Begin to look. The first look at each endpoint is at once."""
        self._open = True
        for endpoint in self._endpoints.values():
            self._watch(endpoint)

    async def stop(self) -> None:
        """Stop looking, and close every connection. Views not yet handed on are dropped. Safe to call twice."""
        self._open = False
        self._batch.close()
        tasks = [*self._tasks.values(), *self._going]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def update(self, endpoints: Iterable[Endpoint], settings: EyesSettings | None = None) -> None:
        """Look at these from now on. One that is declared as before is watched on without a break, unless settings change."""
        wanted = {endpoint.slot: endpoint for endpoint in endpoints}
        before, self._endpoints = self._endpoints, wanted
        anew = settings is not None and settings != self._settings
        if settings is not None and anew:
            self._settings, self._turn = settings, asyncio.Semaphore(settings.max_concurrent)
        if not self._open:
            return
        for slot in [slot for slot, old in before.items() if anew or wanted.get(slot) != old]:
            self._forget(slot)
        for slot, endpoint in wanted.items():
            if slot not in self._tasks:
                self._watch(endpoint)

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """The name `host` stands for these now: endpoints declared by it are looked at there, as if they were new."""
        before, self._addresses[host] = self._addresses.get(host), addresses
        for slot, endpoint in self._endpoints.items():
            if before and slot in self._tasks and urlsplit(endpoint.url).hostname == host:
                self._forget(slot)
                self._watch(endpoint)

    def _forget(self, slot: int) -> None:
        task = self._tasks.pop(slot)
        task.cancel()
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        self._batch.drop(slot)

    def _watch(self, endpoint: Endpoint) -> None:
        name = f"eyes on {endpoint.name}"
        self._tasks[endpoint.slot] = asyncio.create_task(self._run(endpoint), name=name)

    async def _run(self, endpoint: Endpoint) -> None:
        async with contextlib.AsyncExitStack() as stack:
            async with self._turn:  # a thousand endpoints that join at once would hold up the loop
                session = open_session(endpoint.url, self._known_addresses)
                watcher = self._watcher(endpoint, await stack.enter_async_context(session))
                await self._look_now(endpoint, watcher)
            # From here on the endpoints are out of step, each at its own phase of the interval.
            await asyncio.sleep(self._rng.uniform(0.0, self._settings.scrape_seconds))
            while True:
                began = self._clock()
                await self._look(endpoint, watcher)
                spent = (self._clock() - began) / 1e6
                await asyncio.sleep(max(0.0, self._pause() - spent))

    def _watcher(self, endpoint: Endpoint, session: aiohttp.ClientSession) -> Watcher:
        settings = self._settings

        def caller(timeout_seconds: float, port: int = 0) -> HttpCaller:
            return HttpCaller(session, endpoint, timeout_seconds, self._credentials, port, self._tls)

        probe = caller(settings.health_timeout_seconds)
        return Watcher(
            endpoint,
            caller(settings.scrape_timeout_seconds),
            probe,
            settings,
            self._batch.add,
            self._warn,
            scrape=caller(settings.scrape_timeout_seconds, endpoint.metrics_port),
            has_key=lambda: self._credentials(endpoint) is not None,
            why=lambda: probe.trouble,
        )

    def _known_addresses(self, host: str) -> tuple[str, ...]:
        return self._addresses.get(host, ())

    def _pause(self) -> float:
        # A tenth of jitter keeps a fleet from falling into step after a common stall.
        return self._settings.scrape_seconds * self._rng.uniform(0.95, 1.05)

    async def _look(self, endpoint: Endpoint, watcher: Watcher) -> None:
        async with self._turn:
            await self._look_now(endpoint, watcher)

    async def _look_now(self, endpoint: Endpoint, watcher: Watcher) -> None:
        try:
            await watcher.look(self._clock())
        except Exception as error:  # noqa: BLE001 - whatever an endpoint answers, the eyes stay open
            self._warn(f"endpoint {endpoint.name}: looking at it failed with {type(error).__name__}")


class _Batch:
    """Gathers views, the newest per slot, and hands them on together."""

    def __init__(self, sink: Sink, seconds: float) -> None:
        self._sink = sink
        self._seconds = seconds
        self._views: dict[int, EndpointView] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, view: EndpointView) -> None:
        self._views[view.slot] = view
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._flush)

    def drop(self, slot: int) -> None:
        self._views.pop(slot, None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._views.clear()

    def _flush(self) -> None:
        self._timer = None
        views = tuple(self._views.values())
        self._views.clear()
        if views:
            self._sink(views)
