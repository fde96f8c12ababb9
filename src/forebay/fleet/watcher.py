"""Watches one endpoint: asks one question after another, so that two are never open at once."""

from collections.abc import Callable
from typing import TypeVar

from forebay.config.settings import EyesSettings
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.fleet.absence import Absences
from forebay.fleet.adapters import adapter_of
from forebay.fleet.adapters.base import Identity
from forebay.fleet.caller import Caller
from forebay.fleet.detect import detect
from forebay.fleet.dialects.base import NOTHING, read
from forebay.fleet.histogram import Window
from forebay.fleet.metrics import parse

GAP_SHARE = 0.95

T = TypeVar("T")


def _us(seconds: float) -> int:
    return round(seconds * 1e6)


def _newer(found: T | None, known: T | None) -> T | None:
    return known if found is None else found


class Watcher:
    """What is known of one endpoint, renewed by `look`.

    `post` takes each new view; `warn` takes sentences for an operator, each told once per cause.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        call: Caller,
        probe: Caller,
        settings: EyesSettings,
        post: Callable[[EndpointView], None],
        warn: Callable[[str], None],
        *,
        scrape: Caller | None = None,
        has_key: Callable[[], bool] = lambda: False,
        why: Callable[[], str] = lambda: "",
    ) -> None:
        """`probe` asks for health, `call` everything else, but for metrics that `scrape` asks where they stand elsewhere.

        `has_key`: whether they show one. `why` says what was wrong with the last answer to `probe`, or nothing.
        """
        self._why = why
        self._has_key = has_key
        self._endpoint = endpoint
        self._call = call
        self._ask_health = probe
        self._ask_metrics = scrape or call
        self._settings = settings
        self._post = post
        self._warn = warn
        self._engine = endpoint.engine
        self._adapter = adapter_of(endpoint.engine)
        self._reachable: bool | None = None
        self._identity = Identity()
        self._reading = NOTHING
        self._gaps = Window()
        self._absences = Absences()
        self._told: set[str] = set()
        self._health_due = self._identity_due = self._scrape_due = 0

    async def look(self, at: int) -> None:
        """Ask what is due at this moment, and post what came of it. Times are microseconds of the caller's clock."""
        if at >= self._health_due:
            self._health_due = at + _us(self._settings.health_seconds)
            await self._probe()
        if not self._reachable:
            return
        if at >= self._identity_due:
            self._identity_due = at + _us(self._settings.models_seconds)
            await self._identify()
        if at >= self._scrape_due:
            await self._scrape(at)
        self._post(self._view())

    async def _probe(self) -> None:
        before, self._reachable = self._reachable, await self._adapter.healthy(self._ask_health)
        if self._reachable:
            if before is False:
                self._warn(f"endpoint {self._endpoint.name}: it answers its health probe again")
            if not before:
                self._begin()
            return
        if before is not False:
            why = self._why()
            self._warn(
                f"endpoint {self._endpoint.name}: its health probe fails" + (f": {why}" if why else "")
            )
            self._reading = NOTHING
            self._gaps = Window()
        # Every failure is told: so many in a row are what takes an idle endpoint out.
        self._post(self._view())

    def _begin(self) -> None:
        # Whoever comes back may be another engine, with another model and counters at zero.
        self._identity_due = self._scrape_due = 0
        self._engine = self._endpoint.engine
        self._identity = Identity()
        self._gaps = Window()

    async def _identify(self) -> None:
        if not self._engine:
            self._engine = await detect(self._call, self._ask_metrics) or ""
        self._adapter = adapter_of(self._engine)
        found = await self._adapter.identify(self._call)
        if found.refused:
            self._warn_once("refused our key for /v1/models: set `api_key_env` or `api_key_file` of its pool")
            if self._has_key():
                # It would refuse every request at once, and look idle: that would draw all traffic there.
                found = Identity(models=(), context_tokens=found.context_tokens, abilities=found.abilities)
        if found.advice:
            self._warn_once(found.advice)
        # An answer that failed once does not undo what is known.
        self._identity = Identity(
            models=_newer(found.models, self._identity.models),
            adapters=_newer(found.adapters, self._identity.adapters),
            context_tokens=_newer(found.context_tokens, self._identity.context_tokens),
            max_running=_newer(found.max_running, self._identity.max_running),
            abilities=_newer(found.abilities, self._identity.abilities),
        )
        if found.models is None:
            self._identity_due = min(self._identity_due, self._health_due)

    async def _scrape(self, at: int) -> None:
        dialect = self._adapter.dialect
        reply = await self._ask_metrics(dialect.path)
        if reply is not None and reply.good:
            self._reading = read(parse(reply.body, dialect.names), dialect)
            for sentence in self._absences.notice(self._reading, dialect):
                self._warn(f"endpoint {self._endpoint.name}: {sentence}")
        else:
            self._reading = NOTHING
        self._gaps.add(at, self._reading.gaps)
        if reply is not None and not reply.offered:
            self._rest(at, dialect.hint)

    def _rest(self, at: int, hint: str) -> None:
        # An engine without metrics is not asked twice a second for ever.
        self._scrape_due = at + _us(self._settings.models_seconds)
        if hint:
            self._warn_once(f"serves no metrics, so that its load is unknown: {hint}")

    def _warn_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._warn(f"endpoint {self._endpoint.name}: {sentence}")

    def _view(self) -> EndpointView:
        gap_seconds = self._gaps.quantile(GAP_SHARE)
        return EndpointView(
            slot=self._endpoint.slot,
            reachable=self._reachable,
            # A sleeping vLLM still says that it is healthy, and answers nothing until someone wakes it.
            draining=self._reading.asleep is True,
            engine=self._engine,
            models=self._identity.models,
            adapters=self._identity.adapters,
            abilities=self._identity.abilities,
            context_tokens=self._identity.context_tokens,
            max_running=self._identity.max_running,
            running=self._reading.running,
            waiting=self._reading.waiting,
            kv_usage=self._reading.kv_usage,
            kv_usage_mean=self._reading.kv_usage_mean,
            kv_capacity_tokens=self._reading.kv_capacity_tokens,
            gap_p95_us=None if gap_seconds is None else gap_seconds * 1e6,
        )
