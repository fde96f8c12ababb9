"""Shares for people."""

import random

import pytest

from forebay.domain.placement import Placement
from forebay.placement.catalogue import PROFILES
from forebay.placement.shares import shares


@pytest.mark.parametrize("columns", [False, True])
def test_the_shares_of_each_endpoint_sum_to_one(columns, row, pool, ask):
    recipe = PROFILES["multimodal"]
    rows = [row(0, decoding=5.0), row(1, backlog_us=1e6, head_us=1e6, progressed_at=1e6)]
    placement = recipe.build(recipe.settings()).place(ask(), pool(*rows, columns=columns), random.Random(0))
    found = shares(placement)
    assert set(found) == {"visual", "decode", "communication"}
    assert [sum(term) for term in zip(*found.values(), strict=True)] == pytest.approx([1.0, 1.0])
    assert all(0.0 <= share <= 1.0 for term in found.values() for share in term)
    assert found["decode"][1] == 0.0


def test_a_total_of_nothing_has_no_shares(row, pool, ask):
    recipe = PROFILES["least-request"]
    placement = recipe.build(recipe.settings()).place(ask(), pool(row(0)), random.Random(0))
    assert shares(placement) == {"in-flight": [0.0]}


def test_nothing_chosen_has_nothing_to_share():
    assert shares(Placement(None, "p")) == {}
