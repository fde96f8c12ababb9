import pytest

from forebay.domain.outcome import Ending, Usage
from forebay.telemetry.counters import MAX_REASONS, OTHER, Counters


@pytest.fixture
def counters():
    return Counters({"qwen": "qwen", "gpt-4o": "qwen"})


def test_a_finished_request(counters, decision, outcome, passage):
    counters.decided(decision())
    counters.ended(outcome())
    counters.served(passage(model="gpt-4o"))
    pool = counters.tally.pools["qwen"]
    assert pool.endings == {"finished": 1}
    assert pool.decisions == {"placed": 1}
    assert (pool.completion_tokens, pool.cached_tokens, pool.retries) == (30, 5, 0)
    assert (sum(pool.first_token.counts), pool.first_token.sum_us) == (1, 50_000)
    assert pool.duration.sum_us == 900_000
    assert (pool.body_bytes, pool.reply_bytes) == (1000, 300)
    assert counters.tally.replies == {"/v1/chat/completions": {200: 1}}


def test_the_engines_count_less_the_media_is_text(counters, decision, outcome):
    counters.decided(decision())
    counters.ended(outcome())
    pool = counters.tally.pools["qwen"]
    assert pool.prompt_tokens == [15, 100, 20, 10]
    assert pool.predicted_tokens == [10, 100, 20, 10]


def test_an_engine_that_reports_less_than_the_media_leaves_no_negative_text(counters, decision, outcome):
    counters.decided(decision())
    counters.ended(outcome(usage=Usage(prompt_tokens=50, completion_tokens=1, reported=True)))
    assert counters.tally.pools["qwen"].prompt_tokens[0] == 0


def test_without_a_report_our_own_count_stands_in(counters, decision, outcome):
    counters.decided(decision())
    counters.ended(outcome(usage=Usage(completion_tokens=3)))
    assert counters.tally.pools["qwen"].prompt_tokens == [10, 100, 20, 10]


def test_a_request_that_reached_no_engine_has_no_prompt_tokens(counters, decision, outcome):
    counters.decided(decision())
    counters.ended(outcome(ending=Ending.FAILED, reason="connect", usage=Usage(), ttft_us=0, tries=3))
    pool = counters.tally.pools["qwen"]
    assert pool.prompt_tokens == pool.predicted_tokens == [0, 0, 0, 0]
    assert (pool.failures, pool.retries, sum(pool.first_token.counts)) == ({"connect": 1}, 2, 0)


def test_decisions_are_told_apart(counters, decision, placement):
    counters.decided(decision())
    counters.decided(decision(try_=1))
    counters.decided(decision("r-2", placement=placement(slot=None, totals=())))
    assert counters.tally.pools["qwen"].decisions == {"placed": 1, "retried": 1, "no-endpoint": 1}


def test_a_rejection_without_a_decision_counts_by_its_model(counters, outcome):
    rejected = outcome(ending=Ending.REJECTED, reason="rejected-saturated", usage=Usage(), ttft_us=0, tries=0)
    counters.ended(rejected)
    pool = counters.tally.pools["qwen"]
    assert (pool.endings, pool.rejections, pool.retries) == ({"rejected": 1}, {"rejected-saturated": 1}, 0)


def test_a_client_cannot_invent_label_values(counters, outcome, passage):
    counters.ended(outcome(model="made-up"))
    counters.served(passage(model="made-up", api="/etc/passwd"))
    assert set(counters.tally.pools) == {"qwen", OTHER}
    assert counters.tally.pools[OTHER].endings == {"finished": 1}
    assert counters.tally.replies == {OTHER: {200: 1}}


def test_reasons_are_bounded(counters, outcome):
    for number in range(MAX_REASONS + 10):
        counters.ended(outcome(ending=Ending.REJECTED, reason=f"reason-{number}"))
    rejections = counters.tally.pools["qwen"].rejections
    assert len(rejections) == MAX_REASONS + 1
    assert rejections[OTHER] == 10


def test_a_new_plan_keeps_the_counts_of_the_old(counters, outcome):
    counters.ended(outcome())
    counters.rename({"llava": "llava"})
    counters.ended(outcome())
    pools = counters.tally.pools
    assert pools["qwen"].endings == pools[OTHER].endings == {"finished": 1}
    assert "llava" in pools


def test_gaps_are_counted_by_the_stream_that_sees_them(counters):
    counters.gaps("gpt-4o").add(20_000)
    assert counters.tally.pools["qwen"].gap.sum_us == 20_000
