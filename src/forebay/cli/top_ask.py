"""What `forebay top` asks of a gateway's admin port, and the picture that it keeps when no answer comes."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

ASK_SECONDS = 2.0
"""An admin port on the same network answers in milliseconds."""

DECISIONS = 20


class NoAnswerError(Exception):
    """The admin port did not answer as one. The message says where, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The fleet at one moment, as the admin port told it. `taken_at` is seconds since the epoch.

    `trouble` is empty, or says why there is no newer one.
    """

    address: str
    taken_at: float
    at_us: int
    endpoints: tuple[dict[str, Any], ...]
    requests: tuple[dict[str, Any], ...]
    trouble: str = ""

    def as_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "admin": self.address,
                "taken_at": self.taken_at,
                "endpoints": self.endpoints,
                "requests": self.requests,
                "trouble": self.trouble,
            }
        )


def address_of(given: str) -> str:
    """`HOST:PORT` or a URL, as a URL without a path."""
    return (given if "://" in given else f"http://{given}").rstrip("/")


def take(address: str) -> Picture:
    """Ask for a new picture. Raises NoAnswerError."""
    fleet = _asked(address, "/forebay/endpoints")
    latest = _asked(address, f"/forebay/decisions?limit={DECISIONS}")
    try:
        return Picture(
            address, time.time(), fleet["at_us"], tuple(fleet["endpoints"]), tuple(latest["requests"])
        )
    except (KeyError, TypeError):
        raise NoAnswerError(
            f"{address} answers, but not as an admin port of this version of Forebay does"
        ) from None


def next_after(picture: Picture) -> Picture:
    """A new picture, or the same with its trouble: a gateway that restarts leaves the last one on the screen."""
    try:
        return take(picture.address)
    except NoAnswerError as error:
        return replace(picture, trouble=str(error))


def _asked(address: str, path: str) -> Any:
    try:
        with urllib.request.urlopen(address + path, timeout=ASK_SECONDS) as response:  # noqa: S310 - the user's own address
            return json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            raise NoAnswerError(
                f"{address} says {error.code} to {path}: is this the admin port, and not the public one?"
            ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise NoAnswerError(
            f"no gateway answers at {address}: {reason}; --admin says where its `admin` listener is"
        ) from None


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
