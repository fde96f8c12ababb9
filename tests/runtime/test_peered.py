"""A conductor that learns what its peers have before it decides."""

import pytest

from forebay.conductor.commands import Dispatch, Hold, Publish
from forebay.conductor.conductor import Conductor
from forebay.conductor.events import Arrived, Finished, PlanChanged, Progress, Woke
from forebay.domain.load import Load
from forebay.domain.outcome import Attempt, Usage
from forebay.runtime.ledger import Ledger, OtherRows, OwnRow
from forebay.runtime.peered import AGE_US, Peered
from forebay.testing.build import endpoint, plan, pool, request


@pytest.fixture
def ledger():
    made = Ledger.create(2, slots=8)
    yield made
    made.close()


@pytest.fixture
def peer(ledger):
    return OwnRow(ledger, 1)


def seated(ledger, limit=2):
    conductor = Conductor(plan(pool((endpoint(0, max_in_flight=limit),))), worker=0, workers=2)
    return Peered(conductor, conductor, OtherRows(ledger, 0)), conductor


def kinds(commands):
    return [type(command) for command in commands if type(command) in {Dispatch, Hold}]


def test_before_it_places_it_looks(ledger, peer):
    peered, _ = seated(ledger)
    peer.write(Load(0, in_flight=2))
    assert kinds(peered.handle(Arrived(10, request("a")))) == [Hold]
    peer.write(Load(0, in_flight=1))
    assert kinds(peered.handle(Woke(11))) == [Dispatch]


def test_other_events_bring_news_of_some_age(ledger, peer):
    peered, conductor = seated(ledger)
    (sent,) = [
        command for command in peered.handle(Arrived(10, request("a"))) if isinstance(command, Dispatch)
    ]
    peer.write(Load(0, in_flight=1))
    peered.handle(Progress(11, sent.attempt, 1, 1))
    assert conductor.pools["m"].row(0).in_flight == 1
    peered.handle(Progress(11 + AGE_US, sent.attempt, 2, 1))
    assert conductor.pools["m"].row(0).in_flight == 2


def test_while_it_holds_it_looks_at_every_event(ledger, peer):
    peered, _ = seated(ledger, limit=1)
    peer.write(Load(0, in_flight=1))
    assert kinds(peered.handle(Arrived(10, request("a")))) == [Hold]
    peer.write(Load(0))
    commands = peered.handle(Finished(11, Attempt("nobody"), Usage()))
    assert kinds(commands) == [Dispatch]
    assert isinstance(commands[0], Publish)


def test_what_was_there_before_it_came_is_known_at_once(ledger, peer):
    peer.write(Load(0, in_flight=2, failed=9))
    peered, conductor = seated(ledger)
    assert kinds(peered.handle(Arrived(10, request("a")))) == [Hold]
    assert conductor.pools["m"].row(0).usable, "failures of the past open no breaker"


def test_with_a_wider_plan_more_is_looked_at(ledger, peer):
    peered, conductor = seated(ledger)
    peer.write(Load(3, in_flight=1))
    peered.handle(PlanChanged(10, plan(pool((endpoint(0), endpoint(3))))))
    assert conductor.pools["m"].row(3).in_flight == 0
    peered.handle(Arrived(11, request("a")))
    assert conductor.pools["m"].row(3).in_flight >= 1
