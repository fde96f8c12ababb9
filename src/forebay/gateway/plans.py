"""The plan in force, and the way to the next: from the configuration anew, or from endpoints that were found."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

import msgspec

from forebay.config.assemble import Assembly, assemble, document_of
from forebay.config.document import Document
from forebay.config.endpoints import Found
from forebay.config.errors import ConfigError
from forebay.config.schema import File
from forebay.config.slots import SlotBook
from forebay.fleet.discovery.discovery import Discovery, names_of
from forebay.fleet.discovery.files import watch
from forebay.telemetry.plan_families import PlanStatus, SourceStatus

log = logging.getLogger(__name__)

PINNED = frozenset(
    {"listen", "admin", "tls", "admin_tls", "socket_mode", "workers", "access_log", "decision_log", "seed"}
)
"""Settings of the file's top level that need a restart. Whoever changes them is told; all others change with a new plan."""

CERTIFICATE_SECONDS = 10.0
"""How often the files of certificates are looked at. They are renewed days before they end."""


class Reload(msgspec.Struct, frozen=True):
    """What came of a reload. With an `error` the plan of `version` is the old one, and nothing has changed."""

    version: int
    error: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()


class Holder(Protocol):
    """Who lives by the plans."""

    def slots(self) -> SlotBook:
        """The slots that are in use, to put the next plan together with."""
        ...

    def adopt(self, assembly: Assembly) -> None:
        """Live by this plan from now on."""
        ...

    def moved(self, host: str, addresses: tuple[str, ...]) -> None:
        """A name that endpoints are declared at stands for these addresses now."""
        ...


class Plans:
    """Puts one plan together after the other, off the loop, and hands each to its holder.

    `read` reads the configuration anew, None where there is no file. What is refused changes nothing. Used by the loop
    only; plans come one after the other. `clock` is in microseconds.
    """

    def __init__(
        self,
        assembly: Assembly,
        holder: Holder,
        read: Callable[[], Document] | None,
        clock: Callable[[], int],
    ) -> None:
        """`assembly` is the plan that the holder lives by."""
        self.assembly = assembly
        self.last = Reload(assembly.plan.version)
        self.failures = 0
        self._started_with = assembly.file
        self._document = document_of(assembly.recipe)
        self._read = read
        self._holder = holder
        self._clock = clock
        self._turn = asyncio.Lock()
        self._discovery = Discovery(self._found, holder.moved, clock)
        self._watching: asyncio.Task[None] | None = None

    # --- life

    async def begin(self) -> None:
        """Follow the sources of the first plan, and have what they give adopted before anything is served."""
        _warn_of(self.assembly)
        if await self._follow(self.assembly):
            await self._found()
        if self.assembly.certificate_files():
            watching = watch(self._certificate_files, CERTIFICATE_SECONDS, self.renew)
            self._watching = asyncio.create_task(watching, name="certificates")

    async def stop(self) -> None:
        """Follow nothing any more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._discovery.stop()

    def status(self) -> PlanStatus:
        """How the plan stands, for metrics."""
        now = self._clock()
        sources = tuple(
            SourceStatus(key, source.size, source.failures, source.age_seconds(now))
            for key, source in self._discovery.sources().items()
        )
        return PlanStatus(self.assembly.plan.version, not self.last.error, self.failures, sources)

    # --- ways to the next plan

    async def reload(self) -> Reload:
        """Live by the configuration as it stands now, or say why not."""
        if self._read is None:
            problem = "there is no configuration file: the engines came by command line"
            done = Reload(self.assembly.plan.version, problem)
        else:
            async with self._turn:
                done = self.last = await self._next(self._read)
            self.failures += bool(done.error)
        _tell(done)
        return done

    async def renew(self) -> None:
        """Read certificates and keys anew; the configuration stays as it was read."""
        await self._again("certificates or keys cannot be used")

    async def _found(self) -> None:
        await self._again("what discovery found cannot be used")

    async def _again(self, problem: str) -> None:
        async with self._turn:
            change = await self._next(lambda: self._document)
        if change.error:
            log.error("%s: %s", problem, change.error)
        else:
            log.info("plan %d: %s", change.version, _change(change))

    async def _next(self, read: Callable[[], Document]) -> Reload:
        before = self.assembly
        try:
            document, assembly = await self._put_together(read, before.plan.version + 1)
        except ConfigError as error:
            return Reload(before.plan.version, str(error))
        except Exception as error:
            log.exception("a plan could not be put together")
            return Reload(before.plan.version, f"a fault of ours: {type(error).__name__}")
        pinned = _pinned(self._started_with, assembly.file)
        kept = {name: getattr(self._started_with, name) for name in pinned}
        file = msgspec.structs.replace(assembly.file, **kept)
        assembly = msgspec.structs.replace(assembly, file=file, public=before.public, admin=before.admin)
        _warn_of(assembly, before)
        self._document, self.assembly = document, assembly
        self._holder.adopt(assembly)
        return Reload(assembly.plan.version, "", *_difference(before, assembly), pinned)

    async def _put_together(self, read: Callable[[], Document], version: int) -> tuple[Document, Assembly]:
        slots, found = self._holder.slots(), self._discovery.found()
        document = await asyncio.to_thread(read)
        assembly = await asyncio.to_thread(assemble, document, slots, version, found)
        given = await self._follow(assembly)
        if given != found:  # a source that is new has something to give
            assembly = await asyncio.to_thread(assemble, document, slots, version, given)
        return document, assembly

    async def _follow(self, assembly: Assembly) -> Found:
        hosts = names_of(assembly.endpoints())
        return await self._discovery.follow(assembly.sources(), hosts, assembly.file.eyes.names_seconds)

    def _certificate_files(self) -> tuple[str, ...]:
        return self.assembly.certificate_files()


def _tell(reload: Reload) -> None:
    version = reload.version
    if reload.error:
        log.error("the configuration was not reloaded, plan %d stays in force: %s", version, reload.error)
        return
    log.info("the configuration was reloaded, plan %d: %s", version, _change(reload))
    if reload.needs_restart:
        log.warning("in force after a restart only: %s", ", ".join(reload.needs_restart))


def _warn_of(assembly: Assembly, before: Assembly | None = None) -> None:
    """Say what is dangerous in a plan, and was not in the one before."""
    known = {pool.plan.model for pool in before.pools if pool.file.tls.insecure} if before else set()
    for pool in assembly.pools:
        if pool.file.tls.insecure and pool.plan.model not in known:
            log.warning(
                "pool %s: with tls.insecure anyone in between can read and change all", pool.plan.model
            )


def _pinned(started: File, file: File) -> tuple[str, ...]:
    """Settings that differ from those that the gateway was started with, and cannot change while it runs."""
    pinned = (name for name in File.__struct_fields__ if name in PINNED)
    return tuple(name for name in pinned if getattr(file, name) != getattr(started, name))


def _difference(before: Assembly, after: Assembly) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of endpoints that are new, and of those that have left."""
    old, new = ({endpoint.slot: endpoint.name for endpoint in each.endpoints()} for each in (before, after))
    added = tuple(name for slot, name in new.items() if slot not in old)
    return added, tuple(name for slot, name in old.items() if slot not in new)


def _change(reload: Reload) -> str:
    parts = [("added", reload.added), ("removed", reload.removed)]
    told = [f"{word} {', '.join(names)}" for word, names in parts if names]
    return "; ".join(told) or "the same endpoints"
