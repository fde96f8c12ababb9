"""Clients of ServeGen: rates, gaps and sizes are those of the sample."""

import random
import statistics
from itertools import islice

import pytest

from forebay.simulator.workloads.pictures import Reuse
from forebay.simulator.workloads.servegen import Rate, ServeGen


def drawn(workload, count=4000, seed=1):
    return list(islice(workload.asks(random.Random(seed)), count))


@pytest.mark.parametrize("order", ["shuffled", "recorded"])
def test_asks_come_at_the_clients_own_rate(order):
    workload = ServeGen(hour=16, order=order)
    rate = sum(rate.per_second for rate, _ in workload._clients())
    asks = drawn(workload, 6000)
    assert rate == pytest.approx(12.67, abs=0.01)
    assert len(asks) / sum(ask.after_seconds for ask in asks) == pytest.approx(rate, rel=0.15)


@pytest.mark.parametrize("draw", ["comonotone", "independent"])
def test_each_field_has_its_own_distribution_however_they_are_drawn_together(draw):
    workload = ServeGen(draw=draw)
    clients = list(workload._clients())
    total = sum(rate.per_second for rate, _ in clients)
    expected = sum(rate.per_second * sizes.text.mean for rate, sizes in clients) / total
    asks = drawn(workload, 8000)
    assert statistics.fmean(ask.text_tokens for ask in asks) == pytest.approx(expected, rel=0.08)


def test_recorded_clients_come_in_bursts():
    def variation(order):
        gaps = [ask.after_seconds for ask in drawn(ServeGen(order=order))]
        return statistics.pstdev(gaps) / statistics.fmean(gaps)

    assert variation("shuffled") == pytest.approx(1.0, abs=0.05)
    assert variation("recorded") > 1.1


def test_drawn_together_long_texts_have_more_pictures():
    def tokens_seen(draw):
        return statistics.fmean(sum(each.tokens for each in ask.media) for ask in drawn(ServeGen(draw=draw)))

    assert tokens_seen("comonotone") > 1.3 * tokens_seen("independent")


def test_long_answers_are_cut():
    assert max(ask.output_tokens for ask in drawn(ServeGen(most_output_tokens=50))) == 50


def test_pictures_are_fresh_unless_some_are_declared_to_come_again():
    fresh = [each.identity for ask in drawn(ServeGen()) for each in ask.media]
    assert len(set(fresh)) == len(fresh)
    again = ServeGen(reuse=Reuse(share=1.0, pool=100))
    assert len({ask.media for ask in drawn(again) if ask.media}) <= 100


@pytest.mark.parametrize("family", ["Gamma", "Weibull"])
def test_gaps_have_the_mean_that_the_rate_says(family):
    rng, rate = random.Random(3), Rate(4.0, family, 0.7)
    assert statistics.fmean(rate.gap(rng) for _ in range(20_000)) == pytest.approx(0.25, rel=0.05)
