import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.outcome import Usage
from forebay.domain.placement import FilterTrace
from forebay.telemetry.decisions import Story
from forebay.telemetry.explain import explained, explained_decision, ranking, shares, why


def test_the_whole_story(decision, outcome):
    told = explained(Story([decision(), decision(try_=1)], outcome()))
    assert (told["request_id"], told["pool"]) == ("r-1", "qwen")
    assert told["demand"]["image_tokens"] == 100
    assert [one["try"] for one in told["decisions"]] == [0, 1]
    assert told["outcome"]["ending"] == "finished"
    assert (told["outcome"]["prompt_tokens"], told["outcome"]["ttft_ms"]) == (145, 50.0)
    json.dumps(told, allow_nan=False)


def test_a_request_on_its_way_has_no_outcome(decision):
    assert explained(Story([decision()]))["outcome"] is None


def test_what_was_not_reported_is_null(decision, outcome):
    told = explained(Story([decision()], outcome(usage=Usage(), ttft_us=0)))["outcome"]
    assert (told["prompt_tokens"], told["ttft_ms"], told["tokens_reported"]) == (None, None, False)


def test_candidates_come_best_first_with_every_number(decision):
    told = explained_decision(decision())
    assert [one["endpoint"] for one in told["candidates"]] == ["ep-b", "ep-a", "ep-c"]
    best, _, worst = told["candidates"]
    assert (best["chosen"], best["total"], best["total_share"]) == (True, 0.2, pytest.approx(0.2 / 0.9))
    assert best["scores"]["visual"] == {
        "value": 0.4,
        "unit": "s",
        "weight": 0.4,
        "share": pytest.approx(0.4 / 1.8),
        "belief": "known",
    }
    assert worst["scores"]["visual"]["belief"] == "unknown"
    assert worst["scores"]["decode"]["share"] == 0.0
    assert (told["chosen"], told["runner_up"], told["candidates_not_shown"]) == ("ep-b", "ep-a", 0)


def test_filters_name_whom_they_dropped(decision):
    assert explained_decision(decision())["filters"] == [
        {"name": "health", "dropped": ["ep-x"], "dropped_count": 1},
        {"name": "model", "dropped": [], "dropped_count": 0},
    ]


def test_where_the_most_wins_the_order_is_turned(decision, placement):
    told = explained_decision(decision(placement=placement(slot=2, least_wins=False)))
    assert [one["endpoint"] for one in told["candidates"]] == ["ep-c", "ep-a", "ep-b"]
    assert told["why"] == "ep-c has 0.4 s (80%) more than ep-a"


def test_a_large_pool_is_shown_in_part_and_always_with_the_chosen(decision, placement):
    large = placement(slot=30, totals=tuple(float(place) for place in range(40)))
    told = explained_decision(decision(placement=large))
    assert [one["slot"] for one in told["candidates"]] == [0, 1, 2, 3, 4, 5, 6, 7, 30]
    assert told["candidates_not_shown"] == 31
    among = explained_decision(decision(placement=placement(slot=0, totals=tuple(range(17)))))
    assert len(among["candidates"]) == 8
    whole = explained_decision(decision(placement=placement(slot=0, totals=tuple(range(16)))))
    assert len(whole["candidates"]) == 16


def test_numpy_columns_are_told_like_lists(decision, placement):
    plain = placement()
    columns = placement(
        candidates=np.array(plain.candidates),
        totals=np.array(plain.totals),
        slot=np.int64(1),
    )
    told = explained_decision(decision(placement=columns))
    assert told == explained_decision(decision())
    json.dumps(told, allow_nan=False)


def test_a_total_that_is_no_number_comes_last_and_is_null(decision, placement):
    told = explained_decision(decision(placement=placement(totals=(math.nan, 0.2, math.inf))))
    assert [one["slot"] for one in told["candidates"]] == [1, 2, 0]
    assert [one["total"] for one in told["candidates"]] == [0.2, None, None]
    assert [one["total_share"] for one in told["candidates"]] == [1.0, None, None]


def test_a_placement_without_scores_keeps_its_order(decision, placement):
    unscored = placement(slot=1, candidates=(0, 1), scorers=(), totals=())
    told = explained_decision(decision(placement=unscored))
    assert [(one["slot"], one["total"]) for one in told["candidates"]] == [(0, None), (1, None)]
    assert told["why"] == "ep-b was picked without scores"


def test_an_endpoint_without_a_name_is_told_by_its_slot(decision):
    assert explained_decision(decision(endpoints={}))["chosen"] == "slot 1"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "ep-b has 0.3 s (60%) less than ep-a"),
        ({"totals": (0.2, 0.2, 0.9)}, "ep-b and ep-a are equal at 0.2 s: the tie was broken by the picker"),
        (
            {"slot": 0},
            "ep-a was picked although ep-b is better by 0.3 s: the picker does not always take the best",
        ),
        ({"totals": (math.nan, 0.2, math.nan)}, "ep-b was picked; its total or that of ep-a is not known"),
        ({"totals": (math.inf, 0.2, math.inf)}, "ep-b has inf s less than ep-a"),
        ({"slot": 0, "totals": (0.5,)}, "ep-a was the only candidate left"),
        ({"slot": None, "totals": ()}, "no endpoint was left: health dropped 1"),
        ({"slot": None, "totals": (), "filters": (FilterTrace("health", ()),)}, "the pool has no endpoint"),
        ({"scorers": ()}, "ep-b has 0.3 (60%) less than ep-a"),
    ],
)
def test_why_in_one_sentence(decision, placement, changes, sentence):
    assert why(decision(placement=placement(**changes))) == sentence


numbers = st.lists(st.floats(), max_size=20)


@given(numbers)
def test_shares_lie_between_0_and_1(values):
    found = shares(values)
    assert len(found) == len(values)
    for value, share in zip(values, found, strict=True):
        assert (share is None) == (not math.isfinite(value))
        assert share is None or 0.0 <= share <= 1.0


@given(st.lists(st.floats(), min_size=1, max_size=20), st.booleans())
def test_ranking_names_every_candidate_once(values, least_wins):
    from forebay.domain.placement import Placement

    order = ranking(Placement(0, "p", candidates=range(len(values)), totals=values, least_wins=least_wins))
    assert sorted(order) == list(range(len(values)))
