"""Requests that found every candidate full: first in, first out, bounded in number and in time."""

from collections.abc import Callable, Hashable

import msgspec

from forebay.domain.bounds import AtLeastOne, Count, Positive

SECOND_US = 1_000_000


class QueueSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much may wait: `max_requests` per pool (0: nothing waits), each for `ttl_seconds` at most.

    `look_ahead` kinds of request may be found not to fit before a search gives up; others of those kinds are passed
    over unasked, so that pictures waiting for the one endpoint that sees never hold up text.
    """

    max_requests: Count = 1024
    ttl_seconds: Positive = 30.0
    look_ahead: AtLeastOne = 16


class HoldQueue:
    """One pool's held requests, by id, oldest first."""

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings
        self._expires_at: dict[str, int] = {}

    def adopt(self, settings: QueueSettings) -> None:
        """Live by these from now on. What is held keeps its time."""
        self._settings = settings

    def __len__(self) -> int:
        return len(self._expires_at)

    def __contains__(self, request_id: str) -> bool:
        return request_id in self._expires_at

    def push(self, request_id: str, at: int, elsewhere: int = 0) -> bool:
        """Hold a request at the back. False when the queue is full, with those that peers hold `elsewhere`."""
        if len(self._expires_at) + elsewhere >= self._settings.max_requests:
            return False
        self._expires_at[request_id] = at + int(self._settings.ttl_seconds * SECOND_US)
        return True

    def pop_ready(self, place: Callable[[str], bool], kind: Callable[[str], Hashable]) -> list[str]:
        """Offer held requests to `place`, oldest first, and let go of those for which it returns True.

        `place` is expected to take the place that it found. Of requests of the same `kind`, one that found no place
        speaks for the later ones. Returns those let go, in order.
        """
        placed: list[str] = []
        unfit: set[Hashable] = set()
        for request_id in list(self._expires_at):
            what = kind(request_id)
            if what in unfit:
                continue
            if place(request_id):
                placed.append(request_id)
                self._expires_at.pop(request_id, None)
                continue
            unfit.add(what)
            if len(unfit) >= self._settings.look_ahead:
                break
        return placed

    def expire(self, at: int) -> list[str]:
        """Let go of those whose time is over. Returns them, oldest first."""
        expired: list[str] = []
        for request_id, expires_at in self._expires_at.items():
            if expires_at > at:
                break
            expired.append(request_id)
        for request_id in expired:
            del self._expires_at[request_id]
        return expired

    def remove(self, request_id: str) -> bool:
        """Let go of one, cancelled say. False if it is not held."""
        return self._expires_at.pop(request_id, None) is not None

    def next_expiry_at(self) -> int | None:
        """When the oldest expires, None when nothing is held."""
        return next(iter(self._expires_at.values()), None)
