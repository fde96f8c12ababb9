"""The trial of affinity in virtual time."""

import sys

import pytest

import affinity_trial
from affinity_trial import Cache, Trial


def test_a_cache_keeps_the_blocks_used_last_and_ends_go_before_beginnings(monkeypatch):
    monkeypatch.setattr(affinity_trial, "KEPT_BLOCKS", 3)
    cache = Cache()
    assert cache.use((1, 2, 3)) == 0
    assert cache.use((1, 2, 9)) == 2
    assert cache.use((1, 2, 3)) == 2
    assert cache.use((7, 8)) == 0
    assert cache.use((1, 2)) == 1


@pytest.mark.parametrize("gateways", [1, 4])
def test_affinity_finds_more_than_counting_requests_and_stays_bounded(gateways):
    found = {name: Trial(name, gateways, 1).run(30, 40) for name in ("least-request", "prefix-affinity")}
    assert found["prefix-affinity"][0] > found["least-request"][0] + 0.03
    assert found["prefix-affinity"][3] < 2


def test_equal_seeds_give_equal_runs():
    assert Trial("prefix-affinity", 2, 7).run(5, 40) == Trial("prefix-affinity", 2, 7).run(5, 40)


def test_the_table_has_a_row_for_each_case(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["affinity_trial.py", "--seconds", "1"])
    affinity_trial.main()
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 2 + 2 * (len(affinity_trial.PROFILES) + len(affinity_trial.FURTHER))
