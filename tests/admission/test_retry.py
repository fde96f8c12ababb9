"""What may be tried again, and how often."""

import pytest

from forebay.admission.retry import RetryBudget, RetrySettings, may_retry
from forebay.domain.outcome import FailureKind

S = 1_000_000
NEVER = {FailureKind.CLIENT_STATUS, FailureKind.TOTAL_TIMEOUT, FailureKind.DRAIN_TIMEOUT}


@pytest.mark.parametrize("kind", FailureKind)
def test_p20_p26_p29_the_kind_decides_and_content_forbids(kind):
    settings = RetrySettings()
    assert may_retry(settings, kind, content_sent=False, tries=1) is (kind not in NEVER)
    assert not may_retry(settings, kind, content_sent=True, tries=1)


@pytest.mark.parametrize(
    ("max_retries", "tries", "allowed"), [(0, 1, False), (1, 1, True), (1, 2, False), (3, 3, True)]
)
def test_p20_retries_are_counted_per_request(max_retries, tries, allowed):
    settings = RetrySettings(max_retries=max_retries)
    assert may_retry(settings, FailureKind.CONNECT, content_sent=False, tries=tries) is allowed


def withdrawn(budget, at):
    taken = 0
    while budget.withdraw(at):
        taken += 1
    return taken


def test_p20_a_quiet_pool_may_retry_the_minimum():
    budget = RetryBudget(RetrySettings())
    assert withdrawn(budget, 0) == 30
    assert withdrawn(budget, 1) == 0


def test_p20_a_fifth_of_the_dispatches_is_added():
    budget = RetryBudget(RetrySettings(minimum_per_second=0.0))
    assert not budget.withdraw(0)
    for _ in range(100):
        budget.dispatched(0)
    assert withdrawn(budget, 0) == 20


def test_what_was_spent_is_forgotten_with_time():
    budget = RetryBudget(RetrySettings())
    withdrawn(budget, 0)
    assert 13 <= withdrawn(budget, 10 * S) <= 16
    assert withdrawn(budget, 10_000 * S) >= 29


def test_dispatches_are_forgotten_too():
    budget = RetryBudget(RetrySettings(minimum_per_second=0.0))
    for _ in range(1000):
        budget.dispatched(0)
    assert withdrawn(budget, 10_000 * S) == 0
