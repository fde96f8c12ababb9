"""The greedy oracle knows what no gateway knows."""

import random

from forebay.domain.facts import Ask
from forebay.domain.request import Demand
from forebay.estimators.beliefs import Beliefs
from forebay.estimators.capacity import capacity_of
from forebay.simulator.oracle import oracle
from forebay.simulator.visits import Visit
from forebay.testing import build


def test_a_long_answer_goes_where_steps_are_short_and_a_short_one_where_prompts_are():
    beliefs = Beliefs("m", slow_start_seconds=0)
    beliefs.add(build.endpoint(0, device="l40s"), capacity_of("l40s"), 0, fresh=False)
    beliefs.add(build.endpoint(1, device="a100"), capacity_of("a100"), 0, fresh=False)
    work = Demand(1_000, 0, 0, 0, 0, 0, 4_000, exact=True)
    # Some prompts wait at the endpoint whose steps are shorter.
    for key in range(3):
        beliefs.dispatched(1, key, capacity_cost(beliefs.row(1)), work, 0)
    visits = [
        Visit(0.0, build.request(name), 100, tokens, ()) for name, tokens in (("short", 2), ("long", 900))
    ]
    profile = oracle(visits)
    placed = [
        profile.place(
            Ask(visit.request, Demand(100, 0, 0, 0, 0, 200, 400, exact=True), 0, {}, {}),
            beliefs.facts(0),
            random.Random(0),
        ).slot
        for visit in visits
    ]
    assert placed == [0, 1]


def capacity_cost(row):
    from forebay.placement.cost import price

    return price(Demand(1_000, 0, 0, 0, 0, 0, 4_000, exact=True), 0.0, 0.0, row)
