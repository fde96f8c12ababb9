"""Files that are watched by looking: a stat of each, and their content when a stat has changed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import xxhash

log = logging.getLogger(__name__)

Stamp = tuple[int, int, int] | None
"""Modification time in nanoseconds, size and inode; None for a file that is not there."""


class Contents:
    """Tells whether any of some files has other content than when last asked.

    Symbolic links are followed, so that a mounted ConfigMap, which is replaced by a link, is seen to change.
    """

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp] = {}
        self._digests: dict[str, int] = {}

    def changed(self, paths: Iterable[str]) -> bool:
        """Look at `paths`. True when one has changed since, or was not looked at before; a touch alone is no change."""
        found = [self._has_changed(path) for path in paths]  # all of them, whatever the first says
        return any(found)

    def _has_changed(self, path: str) -> bool:
        stamp = _stamp(path)
        if path in self._stamps and self._stamps[path] == stamp:
            return False
        self._stamps[path] = stamp
        before, self._digests[path] = self._digests.get(path), _digest(path)
        return before != self._digests[path]


async def watch(
    paths: Callable[[], Iterable[str]], seconds: float, changed: Callable[[], Awaitable[object]]
) -> None:
    """Call `changed` whenever the content of one of `paths()` has changed, for ever. Looks off the loop: disks can hang.

    Acts when two looks in a row have found the same stats, as a file that is written in place may be seen half done.
    """
    contents = Contents()
    await asyncio.to_thread(contents.changed, tuple(paths()))
    seen = await asyncio.to_thread(_stamps, tuple(paths()))
    while True:
        await asyncio.sleep(seconds)
        try:
            before, seen = seen, await asyncio.to_thread(_stamps, tuple(paths()))
            if before == seen and await asyncio.to_thread(contents.changed, tuple(paths())):
                await changed()
        except Exception:
            log.exception("a change of a watched file could not be taken over")


def _stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(path: str) -> int:
    try:
        return xxhash.xxh3_64_intdigest(Path(path).read_bytes())
    except OSError:
        return 0
