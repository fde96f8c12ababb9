"""The scraped signals."""

import math

from forebay.placement.scorers.queue_kv import FreeKv, PrefixMatch, QueueDepth


def test_queue_and_kv_are_as_scraped(row, ask):
    e = row(waiting=3.0, kv_usage=0.25)
    assert QueueDepth().score(ask(), e) == 3.0
    assert FreeKv().score(ask(), e) == 0.75
    assert not QueueDepth().unknown(ask(), e)
    assert not FreeKv().unknown(ask(), e)


def test_p32_what_was_not_scraped_is_unknown_and_not_zero(row, ask):
    assert math.isnan(QueueDepth().score(ask(), row()))
    assert math.isnan(FreeKv().score(ask(), row()))
    assert QueueDepth().unknown(ask(), row())
    assert FreeKv().unknown(ask(), row())


def test_prefix_is_the_matched_share_of_the_prompt(row, ask):
    question = ask(text_tokens=200, cached={1: 50.0, 2: 999.0})
    assert [PrefixMatch().score(question, row(slot)) for slot in range(3)] == [0.0, 0.25, 1.0]
    assert PrefixMatch().score(ask(text_tokens=0), row()) == 0.0
