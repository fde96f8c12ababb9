"""What makes a running gateway read its configuration anew: SIGHUP, and a change of its files."""

import asyncio
import contextlib
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from forebay.config.assemble import Assembly
from forebay.fleet.discovery.files import watch
from forebay.gateway.plans import Reload

WATCH_SECONDS = 1.0
"""Looking costs a stat of each file; a person who saves one does not notice the second."""


class Reloadable(Protocol):
    """A gateway that can be told."""

    assembly: Assembly

    async def reload(self) -> Reload:
        """Live by the configuration as it stands now, or say why not."""
        ...


def ignore_signal() -> None:
    """A SIGHUP before there is anything to reload, or while streams end, must not end the process, as it would by default."""


@contextlib.contextmanager
def reloading(gateway: Reloadable, watched: Path | None, seconds: float = WATCH_SECONDS) -> Iterator[None]:
    """Reload at each SIGHUP while inside; and when `watched`, or a file that it names, changes. Needs a running loop."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[object]] = set()

    def begin() -> None:
        task = loop.create_task(gateway.reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def paths() -> Iterable[str]:
        beside = (str(watched.parent / path) for path in gateway.assembly.recipe.beside) if watched else ()
        return (str(watched), *gateway.assembly.secret_files(), *beside)

    loop.add_signal_handler(signal.SIGHUP, begin)
    if watched is not None:
        tasks.add(loop.create_task(watch(paths, seconds, gateway.reload)))
    try:
        yield
    finally:
        loop.add_signal_handler(signal.SIGHUP, ignore_signal)
        for task in tuple(tasks):
            task.cancel()
