"""What first tokens and whole answers teach of an endpoint's speed, and what teaches nothing."""

import pytest

from forebay.domain.cost import Cost
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.load import Load
from forebay.domain.request import Demand
from forebay.estimators.beliefs import COLUMNS_FROM, Beliefs
from forebay.estimators.capacity import Capacity

S = 1_000_000
CAPACITY = Capacity(encode_us_per_patch=3.0, prefill_us_per_token=20.0, decode_us_per_token=8_000.0)
DEMAND = Demand(100, 400, 0, 0, 1600, 200, 300_000, exact=True)
COST = Cost(encode_us=5_000.0, prefill_us=15_000.0, decode_us=1_600_000.0)


def beliefs_of(count, slow_start_seconds=30.0, **declared):
    beliefs = Beliefs("m", slow_start_seconds)
    for slot in range(count):
        beliefs.add(Endpoint(slot, f"e{slot}", "", **declared), CAPACITY, 0, fresh=False)
    return beliefs


def test_speed_is_learned_from_the_time_that_each_prompt_was_worked_on():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    for key in "abc":
        beliefs.dispatched(0, key, COST, DEMAND, 0)
    beliefs.first_token(0, "a", 40_000)
    assert e.prefill_us_per_token == pytest.approx(20.0)  # another may have been in the same step
    beliefs.first_token(0, "b", 120_000)
    assert e.prefill_us_per_token == pytest.approx(40.0)
    assert e.encode_us_per_patch == pytest.approx(6.0)
    beliefs.first_token(0, "c", 220_000)
    # Its price was told before anything was learned: 220,000 us for 60,000 in all.
    assert e.prefill_us_per_token == pytest.approx(20.0 * 110 / 30, rel=0.5)


def test_the_time_after_a_cancelled_prompt_teaches_nothing():
    beliefs = beliefs_of(1)
    for key in "ab":
        beliefs.dispatched(0, key, COST, DEMAND, 0)
    beliefs.ended(0, "a", 10_000)
    beliefs.first_token(0, "b", 9 * S)
    assert beliefs.row(0).prefill_us_per_token == 20.0


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_first_tokens_of_one_step_teach_the_same_in_any_order(order):
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.dispatched(0, "b", COST, DEMAND, 10_000)
    for key, at in zip(order, (120_000, 120_400), strict=True):
        beliefs.first_token(0, key, at)
    assert beliefs.row(0).prefill_us_per_token == pytest.approx(20.0 * 120_400 / 40_000)


def test_a_step_is_learned_from_whole_answers_less_the_prompts_among_them():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.first_token(0, "a", 20_000)
    beliefs.dispatched(0, "b", COST, DEMAND, 500_000)
    beliefs.first_token(0, "b", 520_000)
    nominal_us = 8_000 + 100 * CAPACITY.decode_us_per_kv_token
    # 101 tokens after the first, one of them beside b's prompt.
    beliefs.ended(0, "a", round(20_000 + 20_000 + 100 * 3 * nominal_us), tokens=102)
    assert e.decode_us_per_token == pytest.approx(3 * 8_000, rel=0.02)
    assert e.decode_us_per_kv_token == pytest.approx(3 * CAPACITY.decode_us_per_kv_token, rel=0.02)
    assert e.prefill_us_per_token == pytest.approx(20.0)


@pytest.mark.parametrize(("tokens", "streamed"), [(0, True), (5, True), (102, False)])
def test_an_answer_that_is_short_or_not_told_teaches_no_step(tokens, streamed):
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "a", COST, DEMAND, 0, streamed=streamed)
    beliefs.first_token(0, "a", 20_000)
    beliefs.ended(0, "a", 9 * S, tokens=tokens)
    assert beliefs.row(0).decode_us_per_token == 8_000.0


def test_an_answer_among_many_prompts_teaches_no_step():
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.first_token(0, "a", 20_000)
    beliefs.dispatched(0, "b", COST, DEMAND, 20_000)
    beliefs.first_token(0, "b", 9 * S)
    before = beliefs.row(0).decode_us_per_token
    beliefs.ended(0, "a", 10 * S, tokens=200)
    assert beliefs.row(0).decode_us_per_token == before


def test_speed_is_not_learned_behind_strangers():
    beliefs = beliefs_of(1)
    beliefs.viewed(EndpointView(0, waiting=3.0, running=1.0), 0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.first_token(0, "a", 9 * S)
    assert beliefs.row(0).prefill_us_per_token == 20.0


def test_an_embedding_teaches_speed_though_it_is_not_streamed():
    beliefs = beliefs_of(1)
    demand = Demand(100, 0, 0, 0, 0, 0, 300, exact=True)
    beliefs.dispatched(0, "a", COST, demand, 0, streamed=False)
    beliefs.first_token(0, "a", 10_000)
    assert beliefs.row(0).prefill_us_per_token == pytest.approx(10.0)


@pytest.mark.parametrize("count", [3, COLUMNS_FROM])
def test_what_one_has_shown_is_presumed_of_those_alike_that_were_never_tried(count):
    beliefs = beliefs_of(count, device="cpu")
    beliefs.add(Endpoint(count, "other", "", device="a100-80gb"), CAPACITY, 0, fresh=False)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.first_token(0, "a", 1_000)  # of 20,000 as declared
    beliefs.add(Endpoint(count + 1, "late", "", device="cpu"), CAPACITY, 0, fresh=False)
    speeds = {slot: beliefs.row(slot).prefill_us_per_token for slot in beliefs.slots()}
    assert speeds == pytest.approx(dict.fromkeys(range(count + 2), 1.0) | {count: 20.0})
    beliefs.dispatched(1, "b", Cost(encode_us=250.0, prefill_us=750.0, decode_us=80_000.0), DEMAND, 0)
    beliefs.first_token(1, "b", 40_000)
    assert beliefs.row(1).prefill_us_per_token == pytest.approx(40.0)
    # 41,000 us in all, of 40,000 as declared.
    assert beliefs.row(count + 1).prefill_us_per_token == pytest.approx(20.0 * 41 / 40)
    if beliefs.columns is not None:
        written = [float(value) for value in beliefs.columns.prefill_us_per_token]
        assert written == [row.prefill_us_per_token for row in beliefs.rows]


def test_a_prompt_among_those_of_peers_teaches_nothing():
    for before, after in (((1, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 9_000)), ((0, 0, 0), (2, 1, 0))):
        beliefs = beliefs_of(1)
        beliefs.heard(Load(0), 0)
        beliefs.heard(Load(0, in_flight=before[0], decoding=before[1], sent_us=before[2]), 0)
        beliefs.dispatched(0, "a", COST, DEMAND, 0)
        beliefs.heard(Load(0, in_flight=after[0], decoding=after[1], sent_us=after[2]), 1_000)
        beliefs.first_token(0, "a", 9 * S)
        assert beliefs.row(0).prefill_us_per_token == 20.0


def test_a_step_is_learned_less_the_prompts_of_peers():
    beliefs = beliefs_of(1)
    beliefs.heard(Load(0, sent_us=5_000), 0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.first_token(0, "a", 20_000)
    beliefs.heard(Load(0, sent_us=405_000), 100_000)
    nominal_us = 8_000 + 500 * CAPACITY.decode_us_per_kv_token
    beliefs.ended(0, "a", round(20_000 + 400_000 + 100 * 2 * nominal_us), tokens=101)
    assert beliefs.row(0).decode_us_per_token == pytest.approx(2 * 8_000, rel=0.02)
