"""Which pictures come again."""

import random
from collections import Counter

import pytest

from forebay.simulator.workloads.pictures import Pictures, Reuse


def albums(reuse, count=6000, seed=2):
    rng = random.Random(seed)
    pictures = Pictures(reuse, rng)
    return [pictures.album(rng.choice((1, 2)), rng.choice((100, 200))) for _ in range(count)]


def test_the_declared_share_comes_from_the_pool():
    seen = Counter(albums(Reuse(share=0.5, pool=20)))
    assert sum(count for count in seen.values() if count > 1) / 6000 == pytest.approx(0.5, abs=0.03)


def test_an_album_is_asked_for_by_its_rank():
    counts = sorted(Counter(albums(Reuse(share=1.0, pool=50, exponent=1.0))).values(), reverse=True)
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.4)


def test_an_album_that_comes_again_is_the_same():
    by_first = {}
    for album in albums(Reuse(share=1.0, pool=30)):
        assert by_first.setdefault(album[0].identity, album) == album
    assert len(by_first) == 30


def test_without_a_pool_all_are_fresh_and_without_size_there_are_none():
    assert len(set(albums(Reuse(share=1.0, pool=0)))) == 6000
    pictures = Pictures(Reuse(), random.Random(1))
    assert pictures.album(0, 100) == pictures.album(3, 0) == ()
