"""Rendezvous hashing."""

from collections import Counter

import pytest

from forebay.domain.facts import Ask
from forebay.placement.scorers.home import Home
from forebay.placement.scorers.open_requests import OpenRequests
from forebay.testing.build import request


@pytest.fixture
def keyed(ask):
    """An ask for the prompt of that number."""

    def keyed(number):
        return Ask(request(prefix_blocks=(number + 1,)), ask().demand, 1_000_000, {}, {})

    return keyed


def home():
    return Home(OpenRequests(1.0))


def order_of(question, rows):
    scorer = home()
    return sorted((scorer.score(question, e), e.name_hash) for e in rows)


def test_every_gateway_finds_the_same_order_whatever_its_slots(row, keyed):
    here = [row(slot) for slot in range(8)]
    there = [row(7 - slot, name_hash=row(slot).name_hash) for slot in range(8)]
    for number in range(50):
        assert order_of(keyed(number), here) == order_of(keyed(number), there)


def test_keys_spread_evenly_and_the_second_choice_does_too(row, keyed):
    rows = [row(slot) for slot in range(5)]
    orders = [order_of(keyed(number), rows) for number in range(2500)]
    for place in (0, 1):
        homes = Counter(order[place][1] for order in orders)
        assert len(homes) == 5
        assert all(400 < count < 600 for count in homes.values())


def test_an_endpoint_that_leaves_moves_only_its_own_keys(row, keyed):
    rows = [row(slot) for slot in range(5)]
    for number in range(200):
        before = order_of(keyed(number), rows)
        gone = rows[3].name_hash
        after = order_of(keyed(number), [e for e in rows if e.name_hash != gone])
        assert after == [place for place in before if place[1] != gone]


def test_rows_and_columns_hash_alike(row, columns, keyed):
    rows = [row(slot) for slot in range(40)]
    for number in range(20):
        scorer = home()
        one_by_one = [scorer.score(keyed(number), e) for e in rows]
        assert home().score(keyed(number), columns(rows)).tolist() == one_by_one
        assert all(0 <= share < 1 for share in one_by_one)


def test_one_scorer_serves_one_ask_after_another(row, keyed):
    scorer, first, second = home(), keyed(1), keyed(2)
    told = [scorer.score(question, row(0)) for question in (first, first, second, first)]
    assert told[0] == told[1] == told[3] != told[2]


def test_what_has_no_key_is_at_home_where_least_is_open(row, columns, ask):
    rows = [row(0, in_flight=3.0), row(1, in_flight=1.0)]
    assert [home().score(ask(), e) for e in rows] == [0.75, 0.5]
    assert home().score(ask(), columns(rows)).tolist() == [0.75, 0.5]
