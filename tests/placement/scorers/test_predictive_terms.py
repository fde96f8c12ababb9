"""The terms of the predictive profile, by hand arithmetic in seconds."""

import numpy as np
import pytest

from forebay.domain.pace import Pace
from forebay.placement.scorers.affinity import Affinity
from forebay.placement.scorers.answer import AnswerTime, prompt_share
from forebay.placement.scorers.kv_balance import KvBalance, in_seconds
from forebay.placement.scorers.prompt import PromptWork
from forebay.placement.scorers.slack import DROPPED, FirstToken, behind
from forebay.placement.scorers.wait import Wait
from forebay.placement.worth import size_worth, wait_worth

TRUST_US = 1e6
OWN_US = 100 * 20 + 8_000
# A second until the first token is worth 5 of an answer.
PACE = Pace(answer_seconds=5.0, first_token_seconds=1.0, prompt_tokens=100.0, prompt_tokens_rms=200.0)
WORTH = wait_worth(1.0)


def test_a_wait_is_worth_more_than_an_answer(row, ask):
    busy = row(backlog_us=500_000.0, progressed_at=1e6, in_flight=1.0)
    wait = Wait(WORTH, TRUST_US)
    assert wait.score(ask(pace=PACE), busy) == pytest.approx(5 * (0.5 + 0.004))
    assert wait.score(ask(pace=PACE), row()) == 0.0
    fresh = row(backlog_us=500_000.0, progressed_at=1e6, in_flight=1.0, ramp=0.5)
    assert wait.score(ask(pace=PACE), fresh) == pytest.approx(10 * (0.5 + 0.004))


def test_the_wait_is_unsure_while_strangers_are_unknown(row, ask):
    wait = Wait(WORTH, TRUST_US)
    assert wait.unknown(ask(), row())
    assert not wait.unknown(ask(), row(running=1.0, waiting=0.0, foreign=0.0, viewed_at=1.0))


def test_a_prompt_costs_itself_and_all_who_are_there(row, ask):
    work = PromptWork(WORTH, 0.1, 0.5, TRUST_US)
    assert work.score(ask(pace=PACE), row()) == pytest.approx(OWN_US * 0.1 * 5 / 1e6)
    crowded = row(in_flight=6.0, decoding=4.0)
    expected = OWN_US * (0.1 * 5 + 0.5 * (4 + 0.7 * 2)) / 1e6
    assert work.score(ask(pace=PACE), crowded) == pytest.approx(expected)


def test_an_answer_is_stretched_by_the_prompts_that_keep_coming(row, ask):
    answer = AnswerTime()
    idle = 200 * (8_000 + 0.1 * 100) / 1e6
    assert answer.score(ask(), row()) == pytest.approx(idle)
    assert answer.score(ask(), row(work_share=0.5, worked_at=1e6)) == pytest.approx(2 * idle)
    assert answer.score(ask(), row(work_share=9.0, worked_at=1e6)) == pytest.approx(idle / 0.15)
    assert answer.score(ask(expected_output_tokens=0), row()) == 0.0


def test_a_share_of_prompts_fades(row):
    assert prompt_share(1_000_000, row(work_share=0.5, worked_at=1e6)) == 0.5
    assert prompt_share(6_000_000, row(work_share=0.5, worked_at=1e6)) == 0.25


def test_affinity_is_what_another_has_done_already(row, ask):
    asked = ask(image_tokens=400, encoder_patches=1_600, encoded={0: 1_600.0, 2: 400.0}, cached={1: 300.0})
    affinity = Affinity()
    assert affinity.score(asked, row(0, decoding=1.0)) == pytest.approx(300 * 20 * 2 / 1e6)
    assert affinity.score(asked, row(1)) == pytest.approx(1_600 * 3 / 1e6)
    assert affinity.score(asked, row(2)) == pytest.approx((1_200 * 3 + 300 * 20) / 1e6)
    assert affinity.score(ask(), row(0, decoding=9.0)) == 0.0


def test_caches_are_compared_with_their_mean_and_by_their_level(ask):
    scale = in_seconds(size_worth(1.0), relative=1.0, level=0.1)
    pace = Pace(answer_seconds=5.0, prompt_tokens=100.0, prompt_tokens_rms=200.0, kv_capacity_tokens=4_000.0)
    # Worth 5 s; 1 / 0.2 for the mean, 0.1 x 4000 / 200 = 2 for the level.
    assert scale([0.1, 0.3], ask(pace=pace)) == pytest.approx([5 * 0.1 * 7, 5 * 0.3 * 7])
    assert scale(np.array([0.1, 0.3]), ask(pace=pace)).tolist() == scale([0.1, 0.3], ask(pace=pace))
    assert scale([], ask()) == []


def test_the_size_of_a_cache_may_be_unknown(row, ask):
    balance = KvBalance(TRUST_US)
    assert balance.unknown(ask(), row())
    assert balance.score(ask(), row(kv_capacity_tokens=400.0)) == pytest.approx(0.5)


def test_a_first_token_comes_after_the_wait_and_the_prompt(row, ask):
    busy = row(backlog_us=500_000.0, progressed_at=1e6, in_flight=1.0)
    assert FirstToken(TRUST_US).score(ask(), busy) == pytest.approx((500_000 + 4_000 + OWN_US) / 1e6)


def test_who_is_far_behind_the_quickest_is_dropped(ask):
    late = behind(2.0)
    assert late([1.0, 3.0, 3.5], ask(pace=PACE)) == [0.0, 0.0, DROPPED + 2.5]
    assert late(np.array([1.0, 3.0, 3.5]), ask(pace=PACE)).tolist() == [0.0, 0.0, DROPPED + 2.5]
    assert late([], ask()) == []
