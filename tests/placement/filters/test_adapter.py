"""Requests of an adapter go where it is."""

import random

import pytest

from forebay.domain.ability import Ability
from forebay.domain.endpoint import Endpoint
from forebay.domain.facts import Ask
from forebay.domain.request import Api, Demand, InferenceRequest, TextMeasure
from forebay.estimators.beliefs import COLUMNS_FROM, Beliefs
from forebay.estimators.capacity import capacity_of
from forebay.placement.profile import emptied_by
from forebay.testing.build import profile

DEMAND = Demand(10, 0, 0, 0, 0, 10, 100, exact=True)
REQUEST = InferenceRequest("r", Api.CHAT, "ad-a", Ability.TEXT | Ability.CHAT, TextMeasure(ascii_bytes=40))


def ask(slots):
    return Ask(REQUEST, DEMAND, 0, {}, {}, (), slots)


@pytest.mark.parametrize("size", [3, COLUMNS_FROM])
def test_they_go_where_it_is_or_nowhere(size):
    beliefs = Beliefs("m", 0.0)
    for slot in range(size):
        beliefs.add(Endpoint(slot, f"e{slot}", f"http://10.0.0.{slot}:1"), capacity_of(""), 0, fresh=False)
        beliefs.set_usable(slot, True, 0)
    place, rng = profile("round-robin").place, random.Random(1)
    assert {place(ask(frozenset([0, 2])), beliefs.facts(0), rng).slot for _ in range(6)} == {0, 2}
    assert {place(ask(frozenset([1])), beliefs.facts(0), rng).slot for _ in range(3)} == {1}
    placement = place(ask(frozenset()), beliefs.facts(0), rng)
    assert (placement.slot, emptied_by(placement)) == (None, "adapter")
    assert {place(ask(None), beliefs.facts(0), rng).slot for _ in range(3 * size)} == set(range(size))
