"""The plan in force, and the way to the next: from the configuration anew, or from endpoints that were found."""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from forebay.config.assemble import Assembly, assemble
from forebay.config.companions import Companions
from forebay.config.document import Document
from forebay.config.endpoints import Found
from forebay.config.errors import ConfigError
from forebay.config.schema import File
from forebay.config.slots import SlotBook
from forebay.telemetry.plan_families import PlanStatus

log = logging.getLogger(__name__)

LIVE = frozenset({"pools", "keys_env", "keys_file", "inbound", "intake", "media_urls", "eyes", "drain"})
"""Settings of the file's top level that change with a new plan. The others need a restart, and whoever changes them is told."""


class Reload(msgspec.Struct, frozen=True):
    """What came of a reload. With an `error` the plan of `version` is the old one, and nothing has changed."""

    version: int
    error: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()


class Plans:
    """Puts one plan together after the other, off the loop, and hands each to `adopt`.

    `read` reads the configuration anew, None where there is no file. `slots` gives the slots that are in use. What is
    refused changes nothing. Used by the loop only; plans come one after the other.
    """

    def __init__(
        self,
        assembly: Assembly,
        read: Callable[[], Document] | None,
        slots: Callable[[], SlotBook],
        adopt: Callable[[Assembly], None],
    ) -> None:
        self.assembly = assembly
        self.last = Reload(assembly.plan.version)
        self.failures = 0
        self._started_with = assembly.file
        recipe = assembly.recipe
        self._document = Document.of(recipe.data, recipe.name, Companions(texts=recipe.beside))
        self._found: Found = assembly.recipe.found
        self._read = read
        self._slots = slots
        self._adopt = adopt
        self._turn = asyncio.Lock()

    def status(self) -> PlanStatus:
        """How the plan stands, for metrics."""
        return PlanStatus(self.assembly.plan.version, not self.last.error, self.failures)

    async def reload(self) -> Reload:
        """Live by the configuration as it stands now, or say why not."""
        if self._read is None:
            return Reload(
                self.assembly.plan.version, "there is no configuration file: the engines came by command line"
            )
        async with self._turn:
            self.last = await self._next(self._read, self._found)
        self.failures += bool(self.last.error)
        self._tell(self.last)
        return self.last

    async def found(self, found: Found) -> None:
        """Live by what the sources of endpoints give now."""
        async with self._turn:
            change = await self._next(lambda: self._document, found)
        if change.error:
            log.error("what discovery found cannot be used: %s", change.error)
        elif change.added or change.removed:
            log.info("plan %d: %s", change.version, _moved(change))

    async def _next(self, read: Callable[[], Document], found: Found) -> Reload:
        before, version = self.assembly, self.assembly.plan.version
        try:
            document, assembly = await asyncio.to_thread(
                _put_together, read, self._slots(), version + 1, found
            )
        except ConfigError as error:
            return Reload(version, str(error))
        except Exception as error:
            log.exception("a plan could not be put together")
            return Reload(version, f"a fault of ours: {type(error).__name__}")
        pinned = _pinned(self._started_with, assembly.file)
        kept = {name: getattr(self._started_with, name) for name in pinned}
        assembly = msgspec.structs.replace(assembly, file=msgspec.structs.replace(assembly.file, **kept))
        self._document, self._found, self.assembly = document, found, assembly
        self._adopt(assembly)
        return Reload(version + 1, "", *_difference(before, assembly), pinned)

    def _tell(self, reload: Reload) -> None:
        if reload.error:
            log.error(
                "the configuration was not reloaded, plan %d stays in force: %s", reload.version, reload.error
            )
            return
        log.info("the configuration was reloaded, plan %d: %s", reload.version, _moved(reload))
        if reload.needs_restart:
            log.warning(
                "changed in the file, and in force after a restart: %s", ", ".join(reload.needs_restart)
            )


def _put_together(
    read: Callable[[], Document], slots: SlotBook, version: int, found: Found
) -> tuple[Document, Assembly]:
    document = read()
    return document, assemble(document, slots, version, found)


def _pinned(started: File, file: File) -> tuple[str, ...]:
    """Settings that differ from those that the gateway was started with, and cannot change while it runs."""
    return tuple(
        name
        for name in File.__struct_fields__
        if name not in LIVE and getattr(file, name) != getattr(started, name)
    )


def _difference(before: Assembly, after: Assembly) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of endpoints that are new, and of those that have left."""
    old, new = ({endpoint.slot: endpoint.name for endpoint in each.endpoints()} for each in (before, after))
    added = tuple(name for slot, name in new.items() if slot not in old)
    return added, tuple(name for slot, name in old.items() if slot not in new)


def _moved(reload: Reload) -> str:
    parts = [("added", reload.added), ("removed", reload.removed)]
    told = [f"{word} {', '.join(names)}" for word, names in parts if names]
    return "; ".join(told) or "the same endpoints"
