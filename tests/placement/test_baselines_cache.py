"""What balancers that know of caches and tokens do, by their formulas."""

import random

import numpy as np
import pytest

from forebay.placement.baselines_cache import where_unequal
from forebay.placement.catalogue import PROFILES


def chosen(name, ask, rows, pool, columns=False):
    recipe = PROFILES[name]
    facts = pool(*rows, columns=columns)
    return recipe.build(recipe.settings()).place(ask, facts, random.Random(0)).slot


@pytest.mark.parametrize(
    ("loads", "told"),
    [
        ([0.0, 64.0], [0.0, 0.0]),  # no more than 64 apart
        ([0.0, 65.0], [0.0, 65.0]),
        ([200.0, 300.0], [0.0, 0.0]),  # no more than half as much again
        ([200.0, 301.0], [200.0, 301.0]),
        ([], []),
    ],
)
def test_loads_count_while_they_are_unequal(loads, told):
    scale = where_unequal(64.0, 1.5)
    assert scale(loads, None) == told
    assert scale(np.array(loads), None).tolist() == told


def test_cache_aware_takes_the_longest_match_else_the_smallest_tree_else_the_fewest(row, pool, ask):
    rows = [
        row(0, in_flight=30.0, sent_tokens=9_000.0),
        row(1, in_flight=20.0, sent_tokens=1_000.0),
        row(2, in_flight=0.0, sent_tokens=5_000.0),
    ]
    assert chosen("cache-aware", ask(cached={0: 40.0, 1: 31.0}), rows, pool) == 0
    assert chosen("cache-aware", ask(cached={0: 29.0}), rows, pool) == 1
    rows[0].in_flight = 70.0
    assert chosen("cache-aware", ask(cached={0: 40.0}), rows, pool) == 2


def test_a_prompt_sticks_to_its_tokens_until_a_second_of_them_is_in_flight(row, pool, ask):
    rows = [row(0, uncached_tokens=50_000.0), row(1, uncached_tokens=10.0), row(2, uncached_tokens=9.0)]
    assert chosen("token-load-sticky", ask(cached={0: 80.0}), rows, pool) == 0
    assert chosen("token-load-sticky", ask(cached={0: 79.0}), rows, pool) == 2
    rows[0].uncached_tokens = 50_001.0  # of 20 us each
    assert chosen("token-load-sticky", ask(cached={0: 80.0}), rows, pool) == 2


def test_least_load_divides_tokens_by_speed_and_dreads_a_full_cache(row, pool, ask):
    rows = [row(0, kv_tokens=10_000.0), row(1, kv_tokens=15_000.0, prefill_us_per_token=10.0)]
    assert chosen("least-load", ask(), rows, pool) == 1
    rows[1].kv_usage = 0.5  # 0.15 + 0.15 s against 0.2 s
    assert chosen("least-load", ask(), rows, pool) == 0
    rows[0].kv_usage = 1.0
    assert chosen("least-load", ask(), rows, pool) == 1
