"""Breakers: what opens them, what closes them, and what says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.admission.breaker import Breaker, BreakerSettings, BreakerState, retry_after_seconds
from forebay.domain.outcome import FailureKind

S = 1_000_000
COUNTED = [
    FailureKind.CONNECT,
    FailureKind.RESET,
    FailureKind.PROTOCOL,
    FailureKind.FIRST_CONTENT_TIMEOUT,
    FailureKind.IDLE_TIMEOUT,
    FailureKind.TRUNCATED,
    FailureKind.STREAM_ERROR,
    FailureKind.SERVER_STATUS,
]


def breaker(**settings):
    return Breaker(BreakerSettings(**settings))


def fail(subject, times, at=0, kind=FailureKind.SERVER_STATUS):
    for key in range(times):
        subject.dispatched(key, at)
        subject.failed(key, kind, at)


def opened(at=0, **settings):
    subject = breaker(**settings)
    fail(subject, 5, at)
    assert subject.state(at) is BreakerState.OPEN
    return subject


@pytest.mark.parametrize("kind", COUNTED)
def test_p29_five_failures_in_a_row_open_it(kind):
    subject = breaker()
    fail(subject, 4, kind=kind)
    assert subject.usable(0)
    fail(subject, 1, kind=kind)
    assert not subject.usable(0)
    assert subject.next_change_at() == 10 * S


@pytest.mark.parametrize("kind", [k for k in FailureKind if k not in COUNTED])
def test_p29_no_number_of_the_clients_own_faults_opens_it(kind):
    subject = breaker()
    fail(subject, 20, kind=kind)
    assert subject.state(2 * S) is BreakerState.CLOSED


def test_p29_client_errors_neither_count_nor_forgive():
    subject = breaker()
    fail(subject, 4)
    fail(subject, 20, kind=FailureKind.CLIENT_STATUS)
    fail(subject, 1)
    assert not subject.usable(0)


def test_a_success_forgives():
    subject = breaker()
    fail(subject, 4)
    subject.succeeded("good", 0)
    fail(subject, 4)
    assert subject.usable(0)


def test_half_open_lends_one_trial_and_its_success_closes():
    subject = opened()
    assert subject.state(10 * S) is BreakerState.HALF_OPEN
    assert subject.usable(10 * S)
    subject.dispatched("trial", 10 * S)
    assert not subject.usable(10 * S)
    assert subject.next_change_at() is None
    subject.succeeded("trial", 11 * S)
    assert subject.state(11 * S) is BreakerState.CLOSED
    fail(subject, 4, 11 * S)
    assert subject.usable(11 * S)


def test_a_failed_trial_opens_it_for_twice_as_long_up_to_a_cap():
    subject, at, waits = opened(max_open_seconds=35.0), 0, []
    for key in "abc":
        at = subject.next_change_at()
        subject.dispatched(key, at)
        subject.failed(key, FailureKind.CONNECT, at)
        waits.append((subject.next_change_at() - at) // S)
    assert waits == [20, 35, 35]


def test_a_success_brings_the_first_wait_back():
    subject = opened()
    subject.dispatched("a", 10 * S)
    subject.failed("a", FailureKind.CONNECT, 10 * S)
    subject.dispatched("b", 30 * S)
    subject.succeeded("b", 31 * S)
    fail(subject, 5, 31 * S)
    assert subject.next_change_at() == 41 * S


def test_a_trials_first_token_closes_but_one_failure_more_opens_again():
    subject = opened()
    subject.dispatched("trial", 10 * S)
    subject.answering("trial", 10 * S)
    assert subject.usable(10 * S)
    subject.failed("trial", FailureKind.TRUNCATED, 11 * S)
    assert subject.state(11 * S) is BreakerState.OPEN


@pytest.mark.parametrize("kind", [FailureKind.CLIENT_STATUS, FailureKind.RATE_LIMITED])
def test_a_trial_that_was_answered_shows_life(kind):
    subject = opened()
    subject.dispatched("trial", 10 * S)
    subject.failed("trial", kind, 10 * S)
    assert subject.state(12 * S) is BreakerState.CLOSED
    fail(subject, 1, 12 * S)
    assert subject.state(12 * S) is BreakerState.OPEN


def test_a_trial_given_up_is_lent_again():
    subject = opened()
    subject.dispatched("trial", 10 * S)
    subject.cancelled("trial")
    assert subject.usable(10 * S)


def test_a_trial_that_ran_out_of_total_time_is_lent_again():
    subject = opened()
    subject.dispatched("trial", 10 * S)
    subject.failed("trial", FailureKind.TOTAL_TIMEOUT, 20 * S)
    assert subject.state(20 * S) is BreakerState.HALF_OPEN
    assert subject.usable(20 * S)


def test_while_open_older_attempts_are_not_heard():
    subject = opened()
    subject.answering("old", 1 * S)
    subject.succeeded("old", 2 * S)
    subject.failed("older", FailureKind.RESET, 3 * S)
    subject.cancelled("oldest")
    assert subject.state(3 * S) is BreakerState.OPEN
    assert subject.next_change_at() == 10 * S


def test_p26_a_429_cools_for_its_retry_after_and_opens_nothing():
    subject = breaker()
    subject.dispatched("a", 0)
    subject.failed("a", FailureKind.RATE_LIMITED, 0, retry_after_us=12 * S)
    assert subject.state(0) is BreakerState.COOLING
    assert not subject.usable(12 * S - 1)
    assert subject.next_change_at() == subject.cooldown_until == 12 * S
    assert subject.usable(12 * S)
    assert subject.next_change_at() is None


@pytest.mark.parametrize(("wish", "until"), [(0, 1 * S), (5 * S, 5 * S), (10**15, 600 * S)])
def test_p26_cool_downs_have_a_default_and_a_cap(wish, until):
    subject = breaker()
    subject.failed("a", FailureKind.RATE_LIMITED, 0, retry_after_us=wish)
    assert subject.cooldown_until == until


def test_a_shorter_wish_does_not_shorten_a_cool_down():
    subject = breaker()
    subject.failed("a", FailureKind.RATE_LIMITED, 0, retry_after_us=30 * S)
    subject.failed("b", FailureKind.RATE_LIMITED, 1, retry_after_us=1 * S)
    assert subject.cooldown_until == 30 * S


@pytest.mark.parametrize(
    ("changes", "at", "seconds"),
    [
        ([7_200_000], 0, 8),
        ([9 * S, 7_200_000, None], 0, 8),
        ([7 * S], 0, 7),
        ([1], 0, 1),
        ([5 * S, 1 * S], 2 * S, 3),
        ([1 * S], 2 * S, 1),
        ([None], 0, 1),
        ([], 0, 1),
    ],
)
def test_p26_retry_after_is_whole_seconds_and_at_least_one(changes, at, seconds):
    assert retry_after_seconds(changes, at) == seconds


def test_three_failed_probes_open_it_and_one_good_probe_closes_it():
    subject = breaker()
    for at in range(3):
        assert subject.usable(at)
        subject.probed(reachable=False, at=at)
    assert not subject.usable(3)
    subject.probed(reachable=True, at=4)
    assert subject.usable(4)


def test_probes_never_overrule_own_success():
    subject = breaker()
    subject.probed(reachable=False, at=0)
    subject.answering("a", 1)
    for at in range(2, 20):
        subject.probed(reachable=False, at=at)
    assert subject.usable(20)


def test_a_success_before_the_probes_failed_is_no_witness():
    subject = breaker()
    subject.succeeded("a", 0)
    for at in range(1, 4):
        subject.probed(reachable=False, at=at)
    assert not subject.usable(4)


def test_no_word_of_a_probe_is_no_word():
    subject = breaker()
    for at in range(9):
        subject.probed(reachable=False if at % 3 else None, at=at)
        subject.probed(reachable=True, at=at)
    assert subject.usable(9)


def test_probes_that_lie_get_a_trial_which_proves_them_wrong():
    subject = breaker()
    for at in range(3):
        subject.probed(reachable=False, at=at)
    at = subject.next_change_at()
    assert subject.usable(at)
    subject.dispatched("trial", at)
    subject.succeeded("trial", at + 1)
    subject.probed(reachable=False, at=at + 2)
    assert subject.usable(at + 2)


def test_a_trial_that_fails_while_probes_fail_leaves_it_to_the_probes():
    subject = breaker()
    for at in range(3):
        subject.probed(reachable=False, at=at)
    at = subject.next_change_at()
    subject.dispatched("trial", at)
    subject.failed("trial", FailureKind.CONNECT, at)
    assert not subject.usable(at)
    subject.probed(reachable=True, at=at + 1)
    assert subject.usable(at + 1)


def test_good_probes_do_not_close_what_own_failures_opened():
    subject = opened()
    subject.probed(reachable=False, at=1)
    subject.probed(reachable=True, at=2)
    assert not subject.usable(3)


@given(
    st.lists(
        st.tuples(st.sampled_from(["send", "good", "bad", "gone", "limit", "token"]), st.integers(0, 20 * S))
    )
)
def test_whatever_happens_it_becomes_usable_again(steps):
    subject, at, open_keys, key = breaker(), 0, [], 0
    for step, gap in steps:
        at += gap
        if step == "send":
            if subject.usable(at):
                key += 1
                open_keys.append(key)
                subject.dispatched(key, at)
        elif open_keys and step == "token":
            subject.answering(open_keys[0], at)
        elif open_keys:
            ended = open_keys.pop(0)
            if step == "good":
                subject.succeeded(ended, at)
            elif step == "gone":
                subject.cancelled(ended)
            else:
                kind = FailureKind.CONNECT if step == "bad" else FailureKind.RATE_LIMITED
                subject.failed(ended, kind, at)
    for ended in open_keys:
        subject.cancelled(ended)
    assert subject.usable(at) or subject.usable(subject.next_change_at())


@pytest.mark.parametrize("kind", [FailureKind.CONNECT, FailureKind.RESET])
def test_a_good_probe_ends_the_wait_for_one_that_was_not_there(kind):
    subject = breaker()
    fail(subject, 5, kind=kind)
    subject.probed(reachable=True, at=S)
    assert subject.state(S) is BreakerState.HALF_OPEN
    subject.dispatched("trial", S)
    assert not subject.usable(S)
    subject.failed("trial", kind, S)
    assert subject.state(S) is BreakerState.OPEN


def test_a_good_probe_means_nothing_for_one_that_answers_with_errors():
    subject = opened()
    subject.probed(reachable=True, at=S)
    assert subject.state(S) is BreakerState.OPEN


def test_a_long_trial_does_not_keep_out_one_that_is_there():
    subject = breaker(open_seconds=10)
    fail(subject, 5, kind=FailureKind.CONNECT)
    subject.probed(reachable=True, at=S)
    subject.dispatched("long", S)
    subject.probed(reachable=True, at=10 * S)
    assert not subject.usable(10 * S)
    subject.probed(reachable=True, at=11 * S)
    assert subject.state(11 * S) is BreakerState.CLOSED
    subject.dispatched("other", 12 * S)
    subject.failed("other", FailureKind.CONNECT, 12 * S)
    assert subject.state(12 * S) is BreakerState.OPEN  # one more failure is enough
