"""When a request had better wait in the gateway."""

import random

import pytest

from forebay.domain.pace import Pace
from forebay.placement.predictive import PredictiveSettings, predictive

PACE = Pace(answer_seconds=1.0, first_token_seconds=1.0)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(("share", "holds"), [(0.1, True), (0.5, False)])
def test_it_waits_while_even_the_shortest_wait_is_long(share, holds, columns, row, pool, ask):
    rows = [
        row(0, in_flight=1.0, backlog_us=200_000.0, progressed_at=1e6),
        row(1, in_flight=1.0, backlog_us=900_000.0, progressed_at=1e6),
    ]
    profile = predictive(PredictiveSettings(patience=share))
    asked = ask(pace=PACE)
    placement = profile.place(asked, pool(*rows, columns=columns), random.Random(0))
    assert placement.slot == 0
    assert profile.holds(asked, placement) is holds


def test_without_patience_nothing_waits(row, pool, ask):
    profile = predictive(PredictiveSettings(patience=0.0))
    placement = profile.place(ask(), pool(row(backlog_us=9e9)), random.Random(0))
    assert not profile.holds(ask(), placement)
