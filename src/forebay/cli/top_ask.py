"""What `forebay top` asks of a gateway's admin port, and the picture that it keeps when no answer comes."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from forebay.cli.admin_port import NoAnswerError, ask, not_the_admin_port, shown

DECISIONS = 20


@dataclass(frozen=True, slots=True)
class Picture:
    """The fleet at one moment, as the admin port told it. `taken_at` is seconds since the epoch.

    `trouble` is empty, or says why there is no newer one.
    """

    admin: str
    taken_at: float
    at_us: int
    endpoints: tuple[dict[str, Any], ...]
    requests: tuple[dict[str, Any], ...]
    trouble: str = ""

    def as_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "admin": shown(self.admin),
                "taken_at": self.taken_at,
                "endpoints": self.endpoints,
                "requests": self.requests,
                "trouble": self.trouble,
            }
        )


def take(admin: str) -> Picture:
    """Ask for a new picture. Raises NoAnswerError."""
    fleet = _asked(admin, "/forebay/endpoints")
    latest = _asked(admin, f"/forebay/decisions?limit={DECISIONS}")
    try:
        return Picture(
            admin, time.time(), fleet["at_us"], tuple(fleet["endpoints"]), tuple(latest["requests"])
        )
    except (KeyError, TypeError):
        raise NoAnswerError(
            f"{shown(admin)} answers, but not as an admin port of this version of Forebay does"
        ) from None


def next_after(picture: Picture) -> Picture:
    """A new picture, or the same with its trouble: a gateway that restarts leaves the last one on the screen."""
    try:
        return take(picture.admin)
    except NoAnswerError as error:
        return replace(picture, trouble=str(error))


def _asked(admin: str, path: str) -> Any:
    status, page = ask(admin, path)
    if status != 200:
        raise not_the_admin_port(admin, status, path)
    return page


class Watch:
    """Asks in a thread of its own, so that a gateway that hangs does not make the keyboard hang."""

    def __init__(self, first: Picture, interval_seconds: float, changed: Callable[[], None]) -> None:
        """Begin with `first`. `changed` is called, in that thread, when `picture` is another."""
        self.picture = first
        self._interval_seconds = interval_seconds
        self._changed = changed
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="top", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask no more. A question on its way is abandoned."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.wait(self._interval_seconds):
            self.picture = next_after(self.picture)
            self._changed()
