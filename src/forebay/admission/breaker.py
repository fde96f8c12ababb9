"""When an endpoint may be sent requests: a circuit breaker fed by own outcomes, with probes as a second witness."""

import enum
from collections.abc import Hashable, Iterable

import msgspec

from forebay.domain.bounds import AtLeastOne, NotNegative, Positive
from forebay.domain.load import Load, Outcomes, gained
from forebay.domain.outcome import FailureKind

SECOND_US = 1_000_000

# Only what speaks of the endpoint itself. CLIENT_STATUS is the request's own fault, and a burst of those must never
# take a fleet down. TOTAL_TIMEOUT says that the answer was long, DRAIN_TIMEOUT that we are leaving. RATE_LIMITED
# cools instead.
COUNTED = frozenset(
    {
        FailureKind.CONNECT,
        FailureKind.RESET,
        FailureKind.PROTOCOL,
        FailureKind.FIRST_CONTENT_TIMEOUT,
        FailureKind.IDLE_TIMEOUT,
        FailureKind.TRUNCATED,
        FailureKind.STREAM_ERROR,
        FailureKind.SERVER_STATUS,
    }
)

# What a process that is not there does. Once a probe finds it answering again there is no reason to wait longer.
ABSENT = frozenset({FailureKind.CONNECT, FailureKind.RESET})

# The endpoint answered as a sound engine would, though the request was not served.
ANSWERED = frozenset({FailureKind.CLIENT_STATUS, FailureKind.RATE_LIMITED})


NOBODY = Load(-1)
"""There are no peers, or nothing was heard of them."""


class BreakerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When an endpoint is left alone, and for how long.

    `failures` in a row open the breaker for `open_seconds`; each failed probe request doubles that, up to
    `max_open_seconds`. `failed_probes` health probes in a row, with no own success since the first of them, open it
    too. A 429 cools the endpoint for its Retry-After, or `rate_limited_seconds` without one, at most
    `max_cooldown_seconds`; 0 for no cooling.
    """

    failures: AtLeastOne = 5
    open_seconds: Positive = 10.0
    max_open_seconds: Positive = 160.0
    failed_probes: AtLeastOne = 3
    rate_limited_seconds: NotNegative = 1.0
    max_cooldown_seconds: NotNegative = 600.0


class BreakerState(enum.StrEnum):
    """What an endpoint may be sent: everything, nothing, or one request to try it."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    COOLING = "cooling"


class Breaker:
    """One endpoint's breaker. `key` names an attempt; all times are microseconds.

    Every attempt told by `dispatched` is closed by exactly one of `succeeded`, `failed` and `cancelled`. While the
    breaker is not closed only the attempt that was lent as a trial is heard: older ones speak of the past.

    Breakers of one endpoint in several conductors keep in step by `heard`: failures add up over all of them, one of them
    tries it, and what that finds is good for all.
    """

    def __init__(self, settings: BreakerSettings, heard: Load = NOBODY, stagger_us: int = 0) -> None:
        """`heard` is what the peers have told of the endpoint before.

        `stagger_us` is how much later than the first of them this one lends a trial, so that not all do so at once.
        """
        self._settings = settings
        self._stagger_us = stagger_us
        self._heard = heard
        self._answered = self._succeeded = self._failed = self._absentees = 0
        self._trials_passed = self._trials_failed = 0
        self._failures = 0
        self._open_until: int | None = None
        self._open_seconds = settings.open_seconds
        self._opened_by_probes = False
        self._absent = False  # open because nothing was there
        self._trial: Hashable | None = None
        self._trial_at = 0
        self._cooldown_until = 0
        self._failed_probes = 0
        self._first_failed_probe_at = 0
        self._succeeded_at: int | None = None

    def adopt(self, settings: BreakerSettings) -> None:
        """Live by these from now on. A breaker that is open stays so for the time that it was given."""
        self._settings = settings
        if self._open_until is None:
            self._open_seconds = settings.open_seconds

    @property
    def cooldown_until(self) -> int:
        """When a rate-limited endpoint may be asked again; in the past, or 0, when it is not cooling."""
        return self._cooldown_until

    @property
    def steady(self) -> bool:
        """Closed and not cooling: usable, whatever the time."""
        return self._open_until is None and not self._cooldown_until

    def state(self, at: int) -> BreakerState:
        """What the endpoint may be sent now."""
        if at < self._cooldown_until:
            return BreakerState.COOLING
        if self._open_until is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if at < self._open_until else BreakerState.HALF_OPEN

    def usable(self, at: int) -> bool:
        """Whether one more request may be sent: closed, or half-open with its trial not yet lent.

        A cool-down that is over by `at` is forgotten.
        """
        if self._cooldown_until <= at:
            self._cooldown_until = 0
        state = self.state(at)
        if state is BreakerState.HALF_OPEN:
            return self._trial is None and not self._heard.trials
        return state is BreakerState.CLOSED

    def next_change_at(self) -> int | None:
        """When time alone makes the endpoint usable, possibly in the past; None if it is, or waits for a trial."""
        if self._trial is not None or (self._heard.trials and self._open_until is not None):
            return None
        until = max(self._cooldown_until, self._open_until or 0)
        return until or None

    def dispatched(self, key: Hashable, at: int) -> None:
        """An attempt was sent. If the breaker is half-open, it is the trial."""
        if self._open_until is not None and self._trial is None and self.state(at) is BreakerState.HALF_OPEN:
            self._trial = key
            self._trial_at = at

    def answering(self, key: Hashable, at: int) -> None:
        """The attempt's first token came. A trial closes the breaker, but one counted failure opens it again."""
        self._succeeded_at = at
        self._answered += 1
        if self._is_trial(key):
            self._pass()

    def succeeded(self, key: Hashable, at: int) -> None:
        """The attempt ended well."""
        self._succeeded_at = at
        self._succeeded += 1
        if self._open_until is not None:
            if not self._is_trial(key):
                return
            self._trials_passed += 1
        self._close(failures=0)
        self._open_seconds = self._settings.open_seconds

    def failed(self, key: Hashable, kind: FailureKind, at: int, retry_after_us: int = 0) -> None:
        """The attempt ended badly. `retry_after_us` is the engine's wish after a 429, 0 for none."""
        if kind is FailureKind.RATE_LIMITED:
            self._cool(at, retry_after_us)
        if kind in COUNTED:
            self._absent = kind in ABSENT
            self._failed += not self._absent
            self._absentees += self._absent
            self._count(key, at)
        elif kind in ANSWERED and self._is_trial(key):
            self._pass()
        else:
            self.cancelled(key)

    def cancelled(self, key: Hashable) -> None:
        """The attempt was given up by us or the client, which says nothing of the endpoint."""
        if self._is_trial(key):
            self._trial = None

    def probed(self, reachable: bool | None, at: int) -> None:
        """A health probe's word; None is no word. Probes never overrule an own success that came since they failed."""
        if reachable is None:
            return
        if reachable:
            self._failed_probes = 0
            if self._opened_by_probes:
                self._close(failures=0)
            elif self._absent and self._trial is not None and self._trial_is_old(at):
                # It is there, and has not failed its trial: a long answer must not keep it out for its whole length.
                self._close(failures=self._settings.failures - 1)
            elif self._open_until is not None and self._absent:
                # Half-open: the probe has ended the wait, and one real request decides.
                self._open_until = min(self._open_until, at + self._stagger_us)
            return
        if self._failed_probes == 0:
            self._first_failed_probe_at = at
        self._failed_probes += 1
        if self._open_until is None and self._probes_say_down():
            self._open(at, by_probes=True)

    def heard(self, peers: Load, at: int) -> None:
        """What all the peers together tell of the endpoint now; what has come to pass since the last time counts."""
        if self._heard is NOBODY and self._open_until is None and peers.shut_until > at:
            # Who comes later, after a death say, need not find out for itself.
            self._open_until = peers.shut_until + self._stagger_us
        answered, succeeded, failed, absent, passed, lost, _ = gained(self._heard, peers)
        self._heard = peers
        self._cooldown_until = max(self._cooldown_until, peers.cooling_until)
        if answered or succeeded:
            self._succeeded_at = at
        if self._open_until is None:
            self._count_peers(succeeded, failed, absent, at)
        elif passed:
            self._close(failures=self._settings.failures - 1)
        elif lost and self._trial is None:
            self._reopen(at)

    def told(self) -> Outcomes:
        """Trials and outcomes of own attempts, for the peers."""
        return (
            int(self._trial is not None),
            self._cooldown_until,
            0 if self._open_until is None else self._open_until - self._stagger_us,
            self._answered,
            self._succeeded,
            self._failed,
            self._absentees,
            self._trials_passed,
            self._trials_failed,
        )

    def _count_peers(self, succeeded: int, failed: int, absent: int, at: int) -> None:
        # In which order they came is not told: with a success among them they were no row of failures.
        if succeeded:
            self._failures = 0
        elif failed or absent:
            self._absent = absent > 0
            self._failures += failed + absent
            if self._failures >= self._settings.failures:
                self._open(at, by_probes=False)

    def _pass(self) -> None:
        self._trials_passed += 1
        self._close(failures=self._settings.failures - 1)

    def _reopen(self, at: int) -> None:
        self._open_seconds = min(2 * self._open_seconds, self._settings.max_open_seconds)
        self._open(at, by_probes=self._opened_by_probes)

    def _probes_say_down(self) -> bool:
        alive_since = self._succeeded_at is not None and self._succeeded_at >= self._first_failed_probe_at
        return self._failed_probes >= self._settings.failed_probes and not alive_since

    def _trial_is_old(self, at: int) -> bool:
        return at - self._trial_at >= self._settings.open_seconds * SECOND_US

    def _is_trial(self, key: Hashable) -> bool:
        return self._trial is not None and self._trial == key

    def _count(self, key: Hashable, at: int) -> None:
        if self._is_trial(key):
            self._trials_failed += 1
            self._reopen(at)
        elif self._open_until is None:
            self._failures += 1
            if self._failures >= self._settings.failures:
                self._open(at, by_probes=False)

    def _open(self, at: int, *, by_probes: bool) -> None:
        self._trial = None
        self._opened_by_probes = by_probes
        self._open_until = at + int(self._open_seconds * SECOND_US) + self._stagger_us

    def _close(self, *, failures: int) -> None:
        self._trial = None
        self._opened_by_probes = False
        self._open_until = None
        self._failures = failures

    def _cool(self, at: int, retry_after_us: int) -> None:
        wish = retry_after_us or int(self._settings.rate_limited_seconds * SECOND_US)
        until = at + min(wish, int(self._settings.max_cooldown_seconds * SECOND_US))
        self._cooldown_until = max(self._cooldown_until, until)


def retry_after_seconds(changes: Iterable[int | None], at: int) -> int:
    """Whole seconds, at least 1, until the first of these moments, for a Retry-After header.

    `changes` are the `next_change_at` of the endpoints that could have served the request. Without any to come, 1.
    """
    soonest = min((change for change in changes if change is not None and change > at), default=at)
    return max(1, -(-(soonest - at) // SECOND_US))
