"""Requests and tokens that are open."""

import math

import pytest

from forebay.placement.scorers.open_requests import OpenRequests
from forebay.placement.scorers.open_tokens import OpenTokens

LOAD = OpenRequests(view_trust_seconds=1.0)


def test_own_requests_count_whole_and_strangers_by_the_age_of_the_view(row, ask):
    e = row(in_flight=3.0, foreign=4.0, viewed_at=1_000_000.0)
    assert LOAD.score(ask(at=1_000_000), e) == 7.0
    assert LOAD.score(ask(at=2_000_000), e) == 5.0


@pytest.mark.parametrize(
    "facts", [{"foreign": math.nan}, {"foreign": 0.0}, {"foreign": math.nan, "viewed_at": 1e6}]
)
def test_strangers_who_are_not_known_are_not_assumed(facts, row, columns, ask):
    e = row(in_flight=3.0, **facts)
    assert LOAD.score(ask(), e) == 3.0
    assert LOAD.score(ask(), columns([e, e])).tolist() == [3.0, 3.0]
    assert LOAD.unknown(ask(), e) is math.isnan(facts["foreign"])


def test_a_fresh_replica_counts_as_fuller(row, ask):
    assert LOAD.score(ask(), row(ramp=0.1)) == pytest.approx(9.0)
    assert OpenTokens().score(ask(), row(ramp=0.1)) == 10 * OpenTokens().score(ask(), row())


def test_tokens_are_those_there_and_those_to_come(row, ask):
    question = ask(text_tokens=100, image_tokens=400, expected_output_tokens=50)
    assert OpenTokens().score(question, row(kv_tokens=1000.0)) == 1550
