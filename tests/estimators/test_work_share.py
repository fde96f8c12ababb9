"""How much of its time an endpoint spends on prompts."""

import pytest

from forebay.estimators.work_share import share_after


def test_work_sent_evenly_settles_at_its_rate():
    share = 0.0
    for _ in range(300):
        share = share_after(share, 100_000, 40_000)  # 40 ms of work every 100 ms
    assert share == pytest.approx(0.4, abs=0.01)


def test_it_fades_while_nothing_is_sent():
    assert share_after(0.5, 5e6, 0) == pytest.approx(0.5 / 2.71828, abs=0.001)
