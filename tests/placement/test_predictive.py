"""The predictive profile, doing what it is for."""

import random

import msgspec
import pytest

from forebay.placement.predictive import PredictiveSettings, predictive


def placed(ask, facts, **settings):
    return predictive(PredictiveSettings(**settings)).place(ask, facts, random.Random(0))


def test_an_idle_endpoint_is_better_than_a_busy_one(row, pool, ask):
    busy = row(0, in_flight=2.0, decoding=1.0, backlog_us=200_000.0, progressed_at=1e6, kv_tokens=3e3)
    assert placed(ask(), pool(busy, row(1))).slot == 1


def test_a_heavy_picture_keeps_away_from_streams_and_a_line_of_text_does_not(row, pool, ask):
    streams = row(0, in_flight=40.0, decoding=40.0, kv_tokens=40_000.0)
    long = row(1, in_flight=1.0, decoding=1.0, kv_tokens=42_000.0)
    longer = row(1, in_flight=1.0, decoding=1.0, kv_tokens=60_000.0)
    picture = ask(image_tokens=4_000, encoder_patches=16_000)
    assert placed(picture, pool(streams, long)).slot == 1
    assert placed(ask(text_tokens=10), pool(streams, longer)).slot == 0


def test_a_picture_goes_where_it_is_until_that_is_far_behind(row, pool, ask):
    picture = ask(image_tokens=400, encoder_patches=1_600, encoded={0: 1_600.0})
    other = row(1, in_flight=1.0, decoding=1.0, kv_tokens=40_000.0)
    holder = row(0, in_flight=2.0, decoding=2.0, kv_tokens=40_100.0)
    assert placed(picture, pool(holder, other)).slot == 0
    behind = row(0, in_flight=9.0, kv_tokens=40_000.0, backlog_us=900_000.0, progressed_at=1e6)
    assert placed(picture, pool(behind, other)).slot == 1


def test_a_full_cache_is_avoided(row, pool, ask):
    full = row(0, kv_tokens=90_000.0, kv_capacity_tokens=100_000.0)
    same = row(1, kv_tokens=90_000.0, kv_capacity_tokens=400_000.0)
    assert placed(ask(), pool(full, same)).slot == 1


def test_throughput_lets_caches_spread(row, pool, ask):
    """The knob's end for throughput weighs the balance half as much."""
    rows = pool(row(0, kv_tokens=3_000.0), row(1, kv_tokens=1_000.0))
    even, spread = (placed(ask(), rows, throughput=share).scorers[4].values for share in (0.0, 1.0))
    assert even[0] - even[1] == pytest.approx(2 * (spread[0] - spread[1]))


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_the_knob_has_two_ends(share):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"throughput": share}, PredictiveSettings)
