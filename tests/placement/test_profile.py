"""Profiles over rows and columns, their traces and their errors."""

import math
import random
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.placement.catalogue import PROFILES
from forebay.placement.filters.health import Usable
from forebay.placement.pickers.extreme import Highest, Least
from forebay.placement.profile import Profile, emptied_by
from forebay.placement.shares import listed
from forebay.placement.weighted import ScoreError, Weighted


class Says:
    """A scorer that says what the endpoint's `in_flight` is."""

    name = "says"
    unit = "things"
    least_wins = True

    def score(self, ask, e):
        return e.in_flight


def profile_of(weight=1.0):
    return Profile("p", (Usable(),), (Weighted(Says(), weight),), Least())


def build(name):
    recipe = PROFILES[name]
    return recipe.build(recipe.settings())


@pytest.mark.parametrize("columns", [False, True])
def test_the_least_total_among_the_kept_is_chosen(columns, row, pool, ask):
    rows = [row(3, in_flight=5.0), row(4, in_flight=1.0, usable=0.0), row(7, in_flight=2.0)]
    placement = listed(profile_of(2.0).place(ask(), pool(*rows, columns=columns), random.Random(0)))
    assert placement.slot == 7
    assert placement.candidates == [3, 7]
    assert placement.totals == [10.0, 4.0]
    assert placement.filters[0].name == "health"
    assert placement.filters[0].dropped == (4,)
    assert placement.scorers[0].values == [5.0, 2.0]
    assert (placement.scorers[0].unit, placement.scorers[0].weight) == ("things", 2.0)


@pytest.mark.parametrize("columns", [False, True])
def test_with_none_left_the_last_filter_tells_why(columns, row, pool, ask):
    rows = [row(slot, usable=0.0) for slot in range(3)]
    placement = profile_of().place(ask(), pool(*rows, columns=columns), random.Random(0))
    assert placement.slot is None
    assert emptied_by(placement) == "health"


def test_an_empty_pool_was_emptied_by_nothing(pool, ask):
    assert emptied_by(profile_of().place(ask(), pool(), random.Random(0))) == ""


def test_a_placement_that_found_one_was_emptied_by_nothing(row, pool, ask):
    assert emptied_by(profile_of().place(ask(), pool(row(0), row(1, usable=0.0)), random.Random(0))) == ""


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_score_that_is_not_finite_names_its_scorer(columns, number, row, pool, ask):
    rows = [row(0), row(9, in_flight=number)]
    with pytest.raises(ScoreError, match=r"scorer says: .* for slot 9"):
        profile_of().place(ask(), pool(*rows, columns=columns), random.Random(0))


def test_a_weight_that_overflows_is_said_too(row, pool, ask):
    with pytest.raises(ScoreError, match="weight is too large"):
        profile_of(1e308).place(ask(), pool(row(0, in_flight=1e10)), random.Random(0))


def test_scorers_and_picker_must_agree_on_which_end_wins():
    with pytest.raises(ValueError, match="scorer says and the picker disagree"):
        Profile("p", (), (Weighted(Says(), 1.0),), Highest())


def test_the_trace_of_columns_does_not_change_when_beliefs_do(row, pool, ask):
    facts = pool(row(0), row(1, in_flight=4.0), columns=True)
    placement = profile_of().place(ask(), facts, random.Random(0))
    facts.columns.in_flight[1] = 99.0
    assert list(placement.scorers[0].values) == [0.0, 4.0]


def test_a_listed_placement_is_plain_json(row, pool, ask):
    facts = pool(*(row(slot) for slot in range(3)), columns=True)
    placement = build("multimodal").place(ask(), facts, random.Random(0))
    read = msgspec.json.decode(msgspec.json.encode(listed(placement)))
    assert read["candidates"] == [0, 1, 2]
    assert read["scorers"][2]["unknown"] == [0, 1, 2]


flag = st.sampled_from([0.0, 1.0, 1.0, 1.0])
unsure = st.floats(0, 50) | st.just(math.nan)
one_row = st.fixed_dictionaries(
    {
        "usable": flag,
        "draining": st.sampled_from([0.0, 0.0, 1.0]),
        "serves": st.sampled_from([1.0, 0.0, math.nan]),
        "abilities": st.sampled_from([-1, 0]),
        "context_tokens": st.sampled_from([math.nan, 60.0, 5000.0]),
        "in_flight": st.integers(0, 9).map(float),
        "encoder_budget_tokens": st.sampled_from([math.inf, 50.0]),
        "max_in_flight": st.sampled_from([math.inf, 4.0]),
        "running": unsure,
        "waiting": unsure,
        "kv_usage": st.floats(0, 1) | st.just(math.nan),
        "viewed_at": st.floats(0, 1e6) | st.just(math.nan),
        "foreign": unsure,
        "encode_us_per_patch": st.floats(0.1, 1e3),
        "prefill_us_per_token": st.floats(1, 1e4),
        "decode_us_per_token": st.floats(1e3, 1e5),
        "decode_us_per_kv_token": st.floats(0.01, 1),
        "work_share": st.floats(0, 2),
        "worked_at": st.floats(0, 1e6),
        "kv_tokens": st.integers(0, 10**6).map(float),
        "uncached_tokens": st.integers(0, 10**6).map(float),
        "sent_tokens": st.integers(0, 10**8).map(float),
        "kv_capacity_tokens": st.floats(1e3, 1e6) | st.just(math.nan),
        "backlog_us": st.floats(1e6, 1e8),
        "head_us": st.floats(0, 1e6),
        "progressed_at": st.floats(0, 1e6),
        "decoding": st.integers(0, 9).map(float),
        "gap_p95_us": st.floats(1e3, 1e6) | st.just(math.nan),
        "bytes_per_us": st.floats(100, 1e4),
        "numa_apart": st.sampled_from([0.0, 1.0, math.nan]),
        "ramp": st.floats(0.1, 1),
    }
)
asks = st.fixed_dictionaries(
    {
        "text_tokens": st.integers(1, 500),
        "image_tokens": st.integers(0, 500),
        "encoder_patches": st.integers(0, 2000),
        "cached": st.dictionaries(st.integers(0, 12), st.floats(0, 900), max_size=4),
        "encoded": st.dictionaries(st.integers(0, 12), st.floats(0, 2000), max_size=4),
        "items": st.lists(st.integers(0, 100), max_size=3),
        "tried": st.lists(st.integers(0, 12), max_size=2).map(tuple),
    }
)


@pytest.mark.parametrize("name", PROFILES)
@settings(max_examples=60)
@given(rows=st.lists(one_row, max_size=12), question=asks, seed=st.integers(0, 9))
def test_rows_and_columns_choose_alike_with_equal_scores(name, rows, question, seed, row, pool, ask):
    rows = [row(slot, **facts) for slot, facts in enumerate(rows)]
    by_rows, by_columns = (
        listed(build(name).place(ask(**question), pool(*rows, columns=columns), random.Random(seed)))
        for columns in (False, True)
    )
    assert by_rows == by_columns


def test_columns_of_a_kept_few_are_taken_once(row, columns, ask):
    from forebay.placement.by_columns import sift

    kept, traces = sift((Usable(),), ask(), columns([row(0), row(1, usable=0.0), row(2)]))
    assert kept.slot.tolist() == [0, 2]
    assert kept.slot is kept.slot
    assert len(traces) == 1


def test_a_column_path_scorer_may_answer_one_number_for_all(row, pool, ask):
    flat = SimpleNamespace(name="flat", unit="share", least_wins=True, score=lambda _ask, _e: 0.5)
    profile = Profile("p", (), (Weighted(flat, 1.0),), Least())
    placement = profile.place(ask(), pool(row(0), row(1), columns=True), random.Random(0))
    assert isinstance(placement.totals, np.ndarray)
    assert placement.totals.tolist() == [0.5, 0.5]
