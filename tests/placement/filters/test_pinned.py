"""A request that goes on from what one endpoint holds goes there or nowhere."""

import random

import pytest

from forebay.domain.ability import Ability
from forebay.domain.endpoint import Endpoint
from forebay.domain.facts import Ask
from forebay.domain.request import ANYWHERE, Api, Demand, InferenceRequest, TextMeasure
from forebay.estimators.beliefs import COLUMNS_FROM, Beliefs
from forebay.estimators.capacity import capacity_of
from forebay.placement.filters.pinned import Pinned
from forebay.placement.profile import emptied_by
from forebay.testing.build import profile

DEMAND = Demand(10, 0, 0, 0, 0, 10, 100, exact=True)


def ask(only_slot, tried=()):
    needs = Ability.TEXT | Ability.RESPONSES
    request = InferenceRequest(
        "r", Api.RESPONSES, "m", needs, TextMeasure(ascii_bytes=40), only_slot=only_slot
    )
    return Ask(request, DEMAND, 0, {}, {}, tried)


def pool(size):
    beliefs = Beliefs("m", 0.0)
    for slot in range(size):
        beliefs.add(Endpoint(slot, f"e{slot}", f"http://10.0.0.{slot}:1"), capacity_of(""), 0, fresh=False)
        beliefs.set_usable(slot, True, 0)
    return beliefs


@pytest.mark.parametrize("size", [3, COLUMNS_FROM])
def test_it_goes_there_or_nowhere(size):
    place = profile().place
    beliefs, rng = pool(size), random.Random(1)
    for slot in range(3):
        assert place(ask(slot), beliefs.facts(0), rng).slot == slot
    placement = place(ask(size + 5), beliefs.facts(0), rng)
    assert (placement.slot, emptied_by(placement)) == (None, "pinned")
    beliefs.set_usable(1, False, 0)
    placement = place(ask(1), beliefs.facts(0), rng)
    assert (placement.slot, emptied_by(placement)) == (None, "health")
    assert place(ask(0), beliefs.facts(0), rng).slot == 0


def test_others_go_anywhere():
    row = pool(1).rows[0]
    assert Pinned().keep(ask(ANYWHERE), row) is True
    assert Pinned().keep(ask(0), row)
    assert not Pinned().keep(ask(1), row)
