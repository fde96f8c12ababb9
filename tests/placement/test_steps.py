"""Steps of an engine's batch, by hand arithmetic."""

import pytest

from forebay.placement.steps import full_share, held_tokens, step_us, wait_us

TRUST_US = 1e6
SCRAPED = {"running": 3.0, "waiting": 1.0, "foreign": 2.0, "viewed_at": 1_000_000.0, "kv_usage": 0.5}


def test_a_step_reads_the_weights_and_the_cache(row):
    assert step_us(row(), 0.0) == 8_000
    assert step_us(row(), 50_000.0) == 8_000 + 5_000


def test_nothing_is_waited_for_at_an_idle_endpoint(row, ask):
    assert wait_us(ask(), row(), TRUST_US) == 0


def test_a_backlog_is_stretched_by_the_decodes_that_ride_along(row, ask):
    busy = row(
        in_flight=3.0,
        decoding=2.0,
        kv_tokens=40_000.0,
        backlog_us=100_000.0,
        head_us=80_000.0,
        progressed_at=970_000.0,
    )
    chunk_us = 2048 * 20 + 8_000
    expected = (100_000 - 30_000) * (1 + 0.35 * 4_000 / chunk_us) + 0.5 * (8_000 + 4_000)
    assert wait_us(ask(at=1_000_000), busy, TRUST_US) == pytest.approx(expected)


def test_strangers_wait_too(row, ask):
    # 2 strangers, a quarter of them waiting.
    assert wait_us(ask(), row(**SCRAPED), TRUST_US) == pytest.approx(0.5 * 1155 * 20)


def test_strangers_hold_their_part_of_what_was_scraped(row, ask):
    e = row(kv_tokens=7_000.0, kv_capacity_tokens=100_000.0, **SCRAPED)
    assert held_tokens(ask(), e, TRUST_US) == pytest.approx(7_000 + 50_000 * 2 / 4)
    assert held_tokens(ask(at=2_000_000), e, TRUST_US) == pytest.approx(7_000 + 50_000 * 2 / 4 / 2)
    assert held_tokens(ask(), row(kv_tokens=7_000.0), TRUST_US) == 7_000


def test_a_cache_is_full_of_what_is_there_the_prompt_and_half_of_the_answer(row, ask):
    asked = ask(text_tokens=1_000, expected_output_tokens=400)
    assert full_share(asked, row(kv_tokens=800.0, kv_capacity_tokens=4_000.0), TRUST_US) == pytest.approx(0.5)
    # Where no size is told, that of an 8B model on 80 GB.
    assert full_share(asked, row(kv_tokens=800.0), TRUST_US) == pytest.approx(2_000 / 400_000)
