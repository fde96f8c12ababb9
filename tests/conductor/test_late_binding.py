"""Requests wait in the gateway while every endpoint has a backlog, and are bound when that falls."""

import pytest

from forebay.admission.late import FORCE_US, RETRY_US
from forebay.admission.queue import QueueSettings
from forebay.conductor.commands import Dispatch, Hold, Reject
from forebay.conductor.events import Arrived, Cancelled, Finished, FirstToken, PlanChanged, ViewChanged, Woke
from forebay.domain.outcome import Attempt, Usage
from forebay.domain.request import TextMeasure
from forebay.testing import play
from forebay.testing.build import conductor, endpoint, plan, pool, profile, request, view

S = 1_000_000


def asking(name, tokens):
    return request(name, text=TextMeasure(ascii_bytes=4 * tokens, messages=1))


def busy(**changes):
    """A conductor whose one endpoint has a second or so of work before it; and the attempt that is."""
    fields = {"endpoints": 1, "profile": profile("predictive", patience=0.5), **changes}
    book = play(conductor(pool(**fields)))
    book >> Arrived(0, asking("first", 20_000)) << Dispatch
    return book, Attempt("first", 0, 0)


def test_a_request_waits_and_goes_when_the_endpoint_is_free():
    book, first = busy()
    book >> Arrived(10, asking("r", 100)) << Hold("r", "late") << None
    assert book.wake_at == 10 + RETRY_US
    assert len(book.decisions) == 1
    book >> Woke(10 + RETRY_US) << None
    assert book.wake_at == 10 + 2 * RETRY_US
    book >> FirstToken(S, first) << Dispatch << None
    assert book.last.attempt == Attempt("r", 0, 0)
    assert [decision.request_id for decision in book.decisions] == ["first", "r"]
    book >> Finished(2 * S, book.last.attempt, Usage()) << None
    assert book.conductor.open_requests == 1


def test_short_ones_go_first_and_those_that_come_then_stand_behind():
    book, first = busy()
    book >> Arrived(10, asking("long", 20_000)) << Hold
    book >> Arrived(20, asking("short", 100)) << Hold << None
    book >> FirstToken(S, first) << Dispatch << Dispatch << None
    assert book.last.attempt.request_id == "long"
    book >> Arrived(S + 10, asking("next", 100)) << Hold << None


def test_who_has_waited_for_too_long_is_bound_to_the_least_bad():
    book, _ = busy()
    book >> Arrived(10, asking("r", 100)) << Hold
    book >> Woke(FORCE_US + 20) << Dispatch << None


def test_with_no_patience_nobody_waits():
    book, _ = busy(profile=profile("predictive"))
    book >> Arrived(10, asking("r", 100)) << Dispatch << None


def test_only_so_many_wait():
    book, _ = busy(queue=QueueSettings(max_requests=1))
    book >> Arrived(10, asking("a", 100)) << Hold
    book >> Arrived(20, asking("b", 100)) << Dispatch << None
    book, _ = busy(queue=QueueSettings(max_requests=0))
    book >> Arrived(10, asking("a", 100)) << Dispatch << None


def test_a_client_may_leave_while_its_request_waits():
    book, first = busy()
    book >> Arrived(10, asking("r", 100)) << Hold
    book >> Cancelled(20, "r") << None
    book >> FirstToken(S, first) << None
    assert not len(book.conductor.pools["m"].late)


@pytest.mark.parametrize("full", [False, True])
def test_what_the_endpoint_has_become_is_told_when_its_time_comes(full):
    book, first = busy(endpoints=(endpoint(0, max_in_flight=2),))
    book >> Arrived(10, asking("a", 100)) << Hold
    book >> Arrived(20, asking("b", 100)) << Hold
    if full:
        book >> FirstToken(S, first) << Dispatch << Hold("b", "saturated") << None
        book >> Finished(2 * S, first, Usage()) << Dispatch << None
    else:
        book >> ViewChanged(30, (view(0, reachable=True, draining=True),)) << None
        book >> FirstToken(S, first) << Reject << Reject << None


def test_a_pool_that_is_no_longer_named_lives_until_those_who_wait_are_told():
    book, first = busy()
    book >> Arrived(10, asking("r", 100)) << Hold
    book >> PlanChanged(20, plan(pool(model="other"), version=2)) << None
    book >> Finished(30, first, Usage()) << None
    book >> Woke(10 + RETRY_US) << Reject << None
    assert set(book.conductor.pools) == {"other"}
