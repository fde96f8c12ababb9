"""The three terms of the multimodal profile, by hand arithmetic in seconds."""

import math

import pytest

from forebay.placement.scorers.communication import Communication
from forebay.placement.scorers.decode import WAIT_PER_STALL, DecodeSensitivity, strain
from forebay.placement.scorers.visual import VisualThroughput, aged_backlog_us

VISUAL = VisualThroughput(view_trust_seconds=1.0)
DECODE = DecodeSensitivity(view_trust_seconds=1.0)

SCRAPED = {"running": 4.0, "waiting": 2.0, "foreign": 3.0, "viewed_at": 1_000_000.0, "gap_p95_us": 16_000.0}


def test_an_idle_endpoint_costs_the_request_itself(row, ask):
    question = ask(text_tokens=100, image_tokens=400, encoder_patches=1600)
    assert VISUAL.score(question, row()) == pytest.approx((1600 * 3 + 500 * 20 + 8000) / 1e6)
    assert DECODE.score(question, row()) == 0.0


def test_what_the_endpoint_holds_is_free(row, ask):
    question = ask(image_tokens=400, encoder_patches=1600, cached={0: 499.0}, encoded={0: 1600.0})
    assert VISUAL.score(question, row(0)) == pytest.approx((20 + 8000) / 1e6)
    assert VISUAL.score(question, row(1)) == pytest.approx((1600 * 3 + 500 * 20 + 8000) / 1e6)


def test_own_backlog_is_waited_for_and_ages(row, ask):
    busy = row(backlog_us=500_000.0, head_us=200_000.0, progressed_at=1_000_000.0)
    assert aged_backlog_us(1_000_000, busy) == 500_000
    assert aged_backlog_us(1_150_000, busy) == 350_000
    assert aged_backlog_us(9_000_000, busy) == 300_000
    idle_us = VISUAL.score(ask(), row()) * 1e6
    assert VISUAL.score(ask(), busy) * 1e6 == pytest.approx(idle_us + 500_000)


def test_strangers_are_weighted_by_the_age_of_the_view(row, ask):
    idle_us = VISUAL.score(ask(), row()) * 1e6
    fresh = VISUAL.score(ask(at=1_000_000), row(**SCRAPED)) * 1e6 - idle_us
    # 3 strangers, a third of them waiting, each of 1,155 tokens.
    assert fresh == pytest.approx(1155 * 20)
    assert VISUAL.score(ask(at=2_000_000), row(**SCRAPED)) * 1e6 - idle_us == pytest.approx(fresh / 2)


def test_a_scraped_idle_endpoint_has_no_strangers(row, ask):
    scraped_idle = row(running=0.0, waiting=0.0, foreign=0.0, viewed_at=0.0)
    assert VISUAL.score(ask(), scraped_idle) == VISUAL.score(ask(), row())


def test_a_running_batch_is_joined_after_half_a_step(row, ask):
    extra = VISUAL.score(ask(), row(decoding=3.0)) - VISUAL.score(ask(), row())
    assert extra == pytest.approx(4_000 / 1e6)


def test_a_fresh_replica_counts_as_slower(row, ask):
    assert VISUAL.score(ask(), row(ramp=0.1)) == pytest.approx(10 * VISUAL.score(ask(), row()))


def test_decode_is_work_times_streams(row, ask):
    own_us = 100 * 20 + 8000
    expected = 5 * own_us * 0.5 / WAIT_PER_STALL / 1e6
    assert DECODE.score(ask(), row(decoding=5.0)) == pytest.approx(expected)


def test_strangers_streams_count_and_gaps_strain(row, ask):
    own_us = 100 * 20 + 8000
    # 2 of the 3 strangers run; gaps of 16 ms are 2 steps of 8.
    expected = (5 + 2) * own_us * 2 * 0.5 / WAIT_PER_STALL / 1e6
    assert DECODE.score(ask(at=1_000_000), row(decoding=5.0, **SCRAPED)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("gap", "steps"), [(math.nan, 1.0), (100.0, 1.0), (8_000.0, 1.0), (20_000.0, 2.5), (9e9, 4.0)]
)
def test_strain_is_clamped(gap, steps, row):
    assert strain(row(gap_p95_us=gap)) == steps


def test_communication_is_bytes_over_bandwidth(row, ask):
    assert Communication().score(ask(body_bytes=3_000_000), row()) == pytest.approx(3_000_000 / 625 / 1e6)


def test_numa_nodes_known_to_differ_raise_communication_by_18_percent(row, ask):
    question = ask(body_bytes=3_000_000)
    near = Communication().score(question, row(numa_apart=0.0))
    assert Communication().score(question, row(numa_apart=1.0)) == pytest.approx(1.18 * near)
    assert Communication().score(question, row(numa_apart=math.nan)) == near


def test_what_is_not_known_is_said(row, ask):
    for scorer in (VISUAL, DECODE, Communication()):
        assert scorer.unknown(ask(), row())
        assert not scorer.unknown(ask(), row(numa_apart=0.0, **SCRAPED))
