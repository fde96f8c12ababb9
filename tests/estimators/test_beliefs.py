"""Own work is exact, rows and columns never differ, and a fresh replica starts slowly."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.domain.ability import ANY_FORMAT, Ability, Role
from forebay.domain.cost import Cost
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.request import Demand
from forebay.estimators.account import RAMP_FIELDS, VIEW_FIELDS, WORK_FIELDS
from forebay.estimators.beliefs import COLUMNS_FROM, Beliefs
from forebay.estimators.capacity import Capacity
from forebay.estimators.rows import FIELDS

S = 1_000_000
CAPACITY = Capacity(encode_us_per_patch=3.0, prefill_us_per_token=20.0, decode_us_per_token=8_000.0)
DEMAND = Demand(100, 400, 0, 0, 1600, 200, 300_000, exact=True)
COST = Cost(encode_us=5_000.0, prefill_us=15_000.0, decode_us=1_600_000.0)


def beliefs_of(count, slow_start_seconds=30.0, **declared):
    beliefs = Beliefs("m", slow_start_seconds)
    for slot in range(count):
        beliefs.add(Endpoint(slot, f"e{slot}", "", **declared), CAPACITY, 0, fresh=False)
    return beliefs


def test_an_endpoint_starts_as_declared_and_otherwise_unknown():
    beliefs = beliefs_of(1, role=Role.DECODE, max_in_flight=4, numa_node=0, preprocess_numa_node=1)
    e = beliefs.row(0)
    assert (e.usable, e.draining, e.ramp, e.roles, e.max_in_flight, e.numa_apart) == (
        1.0,
        0.0,
        1.0,
        Role.DECODE,
        4.0,
        1.0,
    )
    assert (e.encode_us_per_patch, e.prefill_us_per_token, e.decode_us_per_token) == (3.0, 20.0, 8_000.0)
    unknown = {name for name in FIELDS if math.isnan(getattr(e, name))}
    assert unknown == {
        "serves", "context_tokens", "running", "waiting", "kv_usage", "viewed_at", "foreign", "kv_capacity_tokens",
        "gap_p95_us",
    }  # fmt: skip
    assert e.abilities & int(Ability.AVIF)


FORMATS = int(ANY_FORMAT)
STATED = Ability.JPEG | Ability.WEBP


def test_declared_image_formats_stand_in_place_of_those_seen():
    beliefs = beliefs_of(1, image_formats=STATED)
    e = beliefs.row(0)
    assert e.abilities & FORMATS == STATED
    assert e.abilities & int(Ability.CHAT | Ability.AUDIO)
    for seen in (Ability.CHAT | Ability.AVIF, Ability.CHAT):
        beliefs.viewed(EndpointView(0, abilities=seen), 0)
        assert e.abilities == Ability.CHAT | STATED
    beliefs.viewed(EndpointView(0), 0)
    assert (e.abilities & FORMATS, e.abilities | FORMATS) == (STATED, -1)


def test_image_formats_that_are_declared_anew_count_at_once():
    beliefs = beliefs_of(1)
    beliefs.viewed(EndpointView(0, abilities=Ability.CHAT | Ability.AVIF), 0)
    beliefs.redeclare(Endpoint(0, "e0", "", image_formats=Ability(0)), CAPACITY)
    assert beliefs.row(0).abilities == Ability.CHAT
    beliefs.redeclare(Endpoint(0, "e0", ""), CAPACITY)
    assert beliefs.row(0).abilities == Ability.CHAT | Ability.AVIF


def test_unstated_topology_and_bounds_are_unknown_and_infinite():
    e = beliefs_of(1, numa_node=0).row(0)
    assert math.isnan(e.numa_apart)
    assert e.max_in_flight == math.inf


def test_an_attempt_is_backlog_then_decode_then_nothing():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.dispatched(0, "a", COST, DEMAND, 10)
    assert (e.in_flight, e.backlog_us, e.head_us, e.progressed_at, e.decoding, e.kv_tokens) == (
        1,
        20_000,
        20_000,
        10,
        0,
        500,
    )
    beliefs.first_token(0, "a", 25_000)
    assert (e.in_flight, e.backlog_us, e.head_us, e.decoding) == (1, 0, 0, 1)
    beliefs.progress(0, "a", 30, 9_000, 50_000)
    assert e.kv_tokens == 530
    assert beliefs.ended(0, "a", 60_000)
    assert (e.in_flight, e.backlog_us, e.decoding, e.kv_tokens) == (0, 0, 0, 0)


def test_the_oldest_without_a_first_token_is_the_head():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.dispatched(0, "a", COST, DEMAND, 10)
    beliefs.dispatched(0, "b", Cost(0.0, 7_000.0, 0.0), DEMAND, 20)
    assert (e.backlog_us, e.head_us, e.progressed_at) == (27_000, 20_000, 10)
    beliefs.first_token(0, "a", 25_000)
    assert (e.backlog_us, e.head_us, e.progressed_at) == (7_000, 7_000, 25_000)


def test_p27_each_attempt_is_closed_once():
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    assert beliefs.row(0).in_flight == 1
    assert beliefs.ended(0, "a", 1)
    assert not beliefs.ended(0, "a", 2)
    assert not beliefs.ended(9, "a", 2)
    beliefs.first_token(0, "a", 3)
    beliefs.progress(0, "a", 5, 0, 3)
    assert (beliefs.row(0).in_flight, beliefs.row(0).backlog_us) == (0, 0)


def test_tokens_never_run_backwards():
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.first_token(0, "a", 1)
    beliefs.progress(0, "a", 30, 0, 2)
    beliefs.progress(0, "a", 20, 0, 3)
    assert beliefs.row(0).kv_tokens == 530


def test_a_silent_reply_is_presumed_to_decode_once_its_prompt_is_paid_for():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0, streamed=False)
    beliefs.dispatched(0, "b", COST, DEMAND, 0, streamed=False)
    assert beliefs.facts(19_999).rows[0].decoding == 0
    beliefs.facts(20_000)
    assert (e.decoding, e.backlog_us, e.progressed_at) == (1, 20_000, 20_000)
    beliefs.facts(50_000)
    assert (e.decoding, e.backlog_us) == (2, 0)
    beliefs.first_token(0, "a", 900_000)
    assert beliefs.ended(0, "a", 900_000)
    assert beliefs.ended(0, "b", 900_000)
    assert e.in_flight == 0
    assert e.prefill_us_per_token == 20.0


def test_a_silent_reply_behind_a_stream_waits_for_the_streams_first_token():
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "stream", COST, DEMAND, 0)
    beliefs.dispatched(0, "silent", COST, DEMAND, 0, streamed=False)
    beliefs.facts(S)
    assert beliefs.row(0).decoding == 0
    beliefs.first_token(0, "stream", S)
    beliefs.facts(S + 20_000)
    assert beliefs.row(0).decoding == 2


def test_gaps_are_the_engines_until_enough_were_seen():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.viewed(EndpointView(0, gap_p95_us=12_000.0), 0)
    for tokens in range(1, 8):
        beliefs.progress(0, "a", tokens, 50_000, tokens)
    assert e.gap_p95_us == 12_000
    beliefs.progress(0, "a", 8, 50_000, 8)
    assert 40_000 < e.gap_p95_us < 60_000
    beliefs.viewed(EndpointView(0), 9)
    assert 40_000 < e.gap_p95_us < 60_000


def test_a_view_replaces_the_last_one():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.viewed(
        EndpointView(
            0,
            draining=True,
            models=("m", "other"),
            abilities=Ability.TEXT | Ability.CHAT,
            context_tokens=8192,
            running=3.0,
            waiting=2.0,
            kv_usage=0.4,
            kv_capacity_tokens=100_000,
        ),
        7,
    )
    assert (e.draining, e.serves, e.abilities, e.context_tokens) == (
        1,
        1,
        int(Ability.TEXT | Ability.CHAT),
        8192,
    )
    assert (e.running, e.waiting, e.kv_usage, e.viewed_at, e.foreign, e.kv_capacity_tokens) == (
        3,
        2,
        0.4,
        7,
        4,
        100_000,
    )
    beliefs.viewed(EndpointView(0, models=("other",)), 8)
    assert (e.draining, e.serves, e.abilities) == (0, 0, -1)
    assert all(
        math.isnan(x) for x in (e.context_tokens, e.running, e.waiting, e.kv_usage, e.viewed_at, e.foreign)
    )


def test_p32_a_partial_scrape_leaves_the_rest_unknown():
    beliefs = beliefs_of(1)
    e = beliefs.row(0)
    beliefs.viewed(EndpointView(0, running=3.0), 5)
    assert (e.foreign, e.viewed_at) == (3, 5)
    assert math.isnan(e.kv_usage)
    beliefs.viewed(EndpointView(0, kv_usage=0.5), 6)
    assert e.viewed_at == 6
    assert math.isnan(e.foreign)


def test_strangers_are_never_fewer_than_none():
    beliefs = beliefs_of(1)
    beliefs.dispatched(0, "a", COST, DEMAND, 0)
    beliefs.viewed(EndpointView(0, running=0.0, waiting=0.0), 5)
    assert beliefs.row(0).foreign == 0


def test_draining_is_our_wish_or_the_engines():
    beliefs = beliefs_of(1)
    beliefs.set_draining(0, True)
    beliefs.viewed(EndpointView(0), 1)
    assert beliefs.row(0).draining == 1
    beliefs.set_draining(0, False)
    assert beliefs.row(0).draining == 0


def test_at_a_gateways_start_nobody_is_fresh_and_later_ones_are():
    beliefs = beliefs_of(2)
    assert [e.ramp for e in beliefs.rows] == [1, 1]
    beliefs.add(Endpoint(2, "new", ""), CAPACITY, 100 * S, fresh=True)
    ramps = [beliefs.facts(at * S).rows[2].ramp for at in (100, 101, 115, 130, 131)]
    assert ramps == pytest.approx([0.1, 0.1, 0.5, 1.0, 1.0])


def test_the_first_of_a_pool_is_never_fresh():
    beliefs = Beliefs("m", 30.0)
    beliefs.add(Endpoint(0, "e", ""), CAPACITY, 5, fresh=True)
    assert beliefs.row(0).ramp == 1


def test_without_slow_start_everyone_is_warm():
    beliefs = beliefs_of(1, slow_start_seconds=0.0)
    beliefs.add(Endpoint(1, "new", ""), CAPACITY, 5, fresh=True)
    beliefs.set_usable(1, False, 6)
    beliefs.set_usable(1, True, 7)
    assert beliefs.row(1).ramp == 1


def test_one_that_comes_back_has_cooled_for_as_long_as_it_was_away():
    beliefs = beliefs_of(2)
    beliefs.set_usable(0, False, 0)
    beliefs.set_usable(0, True, 15 * S)
    assert beliefs.row(0).ramp == pytest.approx(0.5)
    beliefs.set_usable(0, True, 16 * S)
    assert beliefs.facts(22_500_000).rows[0].ramp == pytest.approx(0.75)
    beliefs.set_usable(1, False, 20 * S)
    beliefs.set_usable(1, True, 600 * S)
    assert beliefs.row(1).ramp == 0.1


def test_one_that_comes_back_to_an_empty_house_starts_at_full_speed():
    beliefs = beliefs_of(2)
    beliefs.set_usable(0, False, 0)
    beliefs.set_usable(1, False, 0)
    beliefs.set_usable(0, True, 600 * S)
    assert beliefs.row(0).ramp == 1


def test_news_of_strangers_to_the_pool_is_ignored():
    beliefs = beliefs_of(1)
    beliefs.dispatched(9, "a", COST, DEMAND, 0)
    beliefs.first_token(9, "a", 0)
    beliefs.progress(9, "a", 1, 1, 0)
    beliefs.viewed(EndpointView(9), 0)
    beliefs.set_usable(9, False, 0)
    beliefs.set_draining(9, True)
    beliefs.remove(9)
    assert list(beliefs.slots()) == [0]
    with pytest.raises(KeyError):
        beliefs.row(9)


def test_one_that_leaves_takes_its_accounts_along():
    beliefs = beliefs_of(2)
    beliefs.dispatched(0, "a", COST, DEMAND, 0, streamed=False)
    beliefs.set_usable(0, False, 0)
    beliefs.set_usable(0, True, 9 * S)
    beliefs.remove(0)
    assert not beliefs.ended(0, "a", 10 * S)
    assert [e.slot for e in beliefs.facts(11 * S).rows] == [1]


def test_columns_appear_with_the_32nd_endpoint():
    assert beliefs_of(COLUMNS_FROM - 1).columns is None
    beliefs = beliefs_of(COLUMNS_FROM)
    assert beliefs.columns.slot.tolist() == list(range(COLUMNS_FROM))
    beliefs.remove(3)
    assert beliefs.columns is None


def test_every_field_is_declared_once_and_written_by_someone():
    assert set(WORK_FIELDS) | set(VIEW_FIELDS) | set(RAMP_FIELDS) <= set(FIELDS)
    with pytest.raises(AttributeError):
        beliefs_of(1).row(0).invented = 1


maybe = st.none() | st.floats(0, 50)
views = st.builds(
    EndpointView,
    slot=st.integers(0, 40),
    draining=st.booleans(),
    models=st.sampled_from([None, ("m",), ("x",)]),
    abilities=st.sampled_from([None, Ability.TEXT]),
    context_tokens=st.none() | st.integers(1, 9999),
    running=maybe,
    waiting=maybe,
    kv_usage=st.none() | st.floats(0, 1),
    gap_p95_us=maybe,
)
steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "send",
                "send",
                "send",
                "silent",
                "token",
                "progress",
                "end",
                "view",
                "usable",
                "drain",
                "add",
                "remove",
                "time",
            ]
        ),
        st.integers(0, 40),
        st.integers(0, 5),
        st.booleans(),
        views,
    ),
    max_size=40,
)


def step_on(beliefs, step, slot, key, flag, view, at):
    if step in {"send", "silent"}:
        beliefs.dispatched(slot, key, COST, DEMAND, at, streamed=step == "send")
    elif step == "token":
        beliefs.first_token(slot, key, at)
    elif step == "progress":
        beliefs.progress(slot, key, at // S, at % 50_000, at)
    elif step == "end":
        beliefs.ended(slot, key, at)
    elif step == "view":
        beliefs.viewed(view, at)
    elif step == "usable":
        beliefs.set_usable(slot, flag, at)
    elif step == "drain":
        beliefs.set_draining(slot, flag)
    elif step == "add" and slot not in beliefs.slots():
        beliefs.add(Endpoint(slot, "e", ""), CAPACITY, at, fresh=flag)
    elif step == "remove":
        beliefs.remove(slot)


@settings(max_examples=80, deadline=None)
@given(steps)
def test_p27_rows_equal_columns_and_counters_are_never_negative(script):
    beliefs = beliefs_of(36)
    for number, (step, slot, key, flag, view) in enumerate(script):
        at = number * 3 * S
        step_on(beliefs, step, slot, key, flag, view, at)
        facts = beliefs.facts(at + S)
        for e in facts.rows:
            assert min(e.in_flight, e.backlog_us - e.head_us, e.head_us, e.decoding, e.kv_tokens) >= 0
            assert e.backlog_us == 0 or e.in_flight > e.decoding
            assert e.progressed_at <= at + S
            assert 0.1 <= e.ramp <= 1
        if facts.columns is not None:
            for name in FIELDS:
                as_rows = np.array([getattr(e, name) for e in facts.rows], dtype=float)
                np.testing.assert_array_equal(getattr(facts.columns, name).astype(float), as_rows)


def test_the_standing_changes_with_flags_and_members_and_with_nothing_else():
    beliefs = beliefs_of(2)
    last = beliefs.standing

    def changed():
        nonlocal last
        before, last = last, beliefs.standing
        return last is not before

    scrape = EndpointView(0, reachable=True, running=3.0, waiting=1.0)
    beliefs.viewed(scrape, 1)
    beliefs.dispatched(0, "a", COST, DEMAND, 2)
    beliefs.first_token(0, "a", 3)
    beliefs.set_usable(0, True, 4)
    beliefs.set_draining(0, False)
    assert not changed()
    for change in (
        lambda: beliefs.viewed(msgspec.structs.replace(scrape, models=("other",)), 5),
        lambda: beliefs.viewed(msgspec.structs.replace(scrape, models=("m",)), 6),
        lambda: beliefs.viewed(msgspec.structs.replace(scrape, models=("m",), abilities=Ability.TEXT), 7),
        lambda: beliefs.viewed(scrape, 8),
        lambda: beliefs.viewed(msgspec.structs.replace(scrape, draining=True), 9),
        lambda: beliefs.set_usable(1, False, 10),
        lambda: beliefs.set_draining(1, True),
        lambda: beliefs.remove(1),
        lambda: beliefs.add(Endpoint(2, "e2", ""), CAPACITY, 11, fresh=False),
    ):
        change()
        assert changed()


def test_tokens_that_no_cache_holds_are_counted_while_open_and_for_ever():
    beliefs = beliefs_of(1)
    demand = Demand(500, 0, 0, 0, 0, 10, 300, exact=True)
    beliefs.dispatched(0, "a", COST, demand, 0, cached_tokens=400.0)
    beliefs.dispatched(0, "b", COST, demand, 0, cached_tokens=900.0)
    beliefs.dispatched(0, "c", COST, demand, 0)
    assert beliefs.row(0).uncached_tokens == 600
    for key in "abc":
        beliefs.ended(0, key, 9)
    assert (beliefs.row(0).uncached_tokens, beliefs.row(0).sent_tokens) == (0, 600)
