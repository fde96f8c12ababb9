"""Whether a failed attempt may be tried again: by its kind, per request, and within a budget per pool."""

import msgspec

from forebay.domain.bounds import Count, NotNegative, Positive
from forebay.domain.outcome import FailureKind

SECOND_US = 1_000_000

# The request itself was never at fault, and there may be time left. After TOTAL_TIMEOUT there is none, and
# DRAIN_TIMEOUT means that this gateway is leaving.
RETRIABLE = frozenset(
    {
        FailureKind.CONNECT,
        FailureKind.RESET,
        FailureKind.PROTOCOL,
        FailureKind.FIRST_CONTENT_TIMEOUT,
        FailureKind.IDLE_TIMEOUT,
        FailureKind.TRUNCATED,
        FailureKind.STREAM_ERROR,
        FailureKind.RATE_LIMITED,
        FailureKind.SERVER_STATUS,
    }
)


class RetrySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often to try again.

    `max_retries` is per request, on top of its first try; 0 for none. Per pool, retries are at most `ratio` of the
    dispatches of the last `window_seconds` or so, plus `minimum_per_second`: the form of Finagle's RetryBudget, which
    keeps a sick fleet from being flooded by its own retries, and still lets a quiet one retry.
    """

    max_retries: Count = 1
    ratio: NotNegative = 0.2
    minimum_per_second: NotNegative = 3.0
    window_seconds: Positive = 10.0


def may_retry(settings: RetrySettings, kind: FailureKind, *, content_sent: bool, tries: int) -> bool:
    """Whether this failure may be tried again at all, the pool's budget aside.

    `tries` counts the attempts made so far, so 1 after the first. Once the client has seen content, never: a second
    answer would be glued to the first.
    """
    return kind in RETRIABLE and not content_sent and tries <= settings.max_retries


class RetryBudget:
    """A pool's budget: dispatches fill it, retries drain it, both forgotten with time constant `window_seconds`."""

    def __init__(self, settings: RetrySettings, share: float = 1.0) -> None:
        """`share` is this budget's part of `minimum_per_second`, 0..1: so many budgets make up the pool's."""
        self._settings = settings
        self._share = share
        self._window_us = settings.window_seconds * SECOND_US
        self._dispatches = 0.0
        self._retries = 0.0
        self._at: int | None = None

    def adopt(self, settings: RetrySettings) -> None:
        """Live by these from now on."""
        self._settings = settings
        self._window_us = settings.window_seconds * SECOND_US

    def dispatched(self, at: int) -> None:
        """A first try was sent."""
        self._forget(at)
        self._dispatches += 1.0

    def withdraw(self, at: int) -> bool:
        """Take one retry. False when the budget is spent, and then nothing is taken."""
        self._forget(at)
        settings = self._settings
        least = self._share * settings.minimum_per_second * settings.window_seconds
        allowed = settings.ratio * self._dispatches + least
        if self._retries + 1.0 > allowed:
            return False
        self._retries += 1.0
        return True

    def _forget(self, at: int) -> None:
        if self._at is not None:
            # The hyperbolic form of exp(-t / window): the same slope at 0, and no transcendental function.
            age = at - self._at if at > self._at else 0
            kept = self._window_us / (self._window_us + age)
            self._dispatches *= kept
            self._retries *= kept
        self._at = at
