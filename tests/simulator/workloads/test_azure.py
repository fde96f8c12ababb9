"""Azure's traces and distributions, as sampled."""

import random
import statistics
from itertools import islice

import pytest

from forebay.simulator.workloads.azure_multimodal import AzureMultimodal
from forebay.simulator.workloads.azure_text import AzureText


def drawn(workload, count=4000, seed=1):
    return list(islice(workload.asks(random.Random(seed)), count))


def mean(asks, field):
    return statistics.fmean(getattr(ask, field) for ask in asks)


@pytest.mark.parametrize(("trace", "text", "output"), [("conversation", 1155, 211), ("code", 2048, 28)])
def test_traces_have_the_lengths_that_were_published(trace, text, output):
    asks = drawn(AzureText(trace=trace), 8000)
    assert mean(asks, "text_tokens") == pytest.approx(text, rel=0.05)
    assert mean(asks, "output_tokens") == pytest.approx(output, rel=0.05)


def test_recorded_order_goes_round_and_is_the_same_for_every_seed_but_for_its_start():
    rows = 4410
    recorded = AzureText(trace="code", order="recorded")
    asks = drawn(recorded, rows + 50)
    assert asks[rows:] == asks[:50]
    other = drawn(recorded, rows, seed=2)
    assert other[0] in asks
    assert other != asks[:rows]
    assert sorted(other) == sorted(asks[:rows])


def test_half_of_the_multimodal_service_has_pictures_of_bounded_sizes():
    asks = drawn(AzureMultimodal())
    seen = [ask for ask in asks if ask.media]
    assert len(seen) / len(asks) == pytest.approx(0.5, abs=0.04)
    sizes = [each.tokens for ask in seen for each in ask.media]
    assert min(sizes) >= 64
    assert max(sizes) <= 1_280
    assert max(ask.output_tokens for ask in asks) <= 1_500
    context = [ask.text_tokens + sum(each.tokens for each in ask.media) for ask in asks]
    # A prompt of one short picture may be longer than drawn by that picture.
    assert max(context) <= 16_000 + 64


def test_seven_tenths_of_a_prompt_are_pictures():
    long = [ask for ask in drawn(AzureMultimodal()) if ask.media and ask.text_tokens > 500]
    shares = [
        sum(each.tokens for each in ask.media) / (ask.text_tokens + sum(each.tokens for each in ask.media))
        for ask in long
    ]
    assert statistics.fmean(shares) == pytest.approx(0.7, abs=0.02)


def test_drawn_together_long_prompts_have_long_answers():
    asks = drawn(AzureMultimodal(draw="comonotone", image_share=0.0))
    ranked = sorted(asks, key=lambda ask: ask.text_tokens)
    assert mean(ranked[-400:], "output_tokens") > 5 * mean(ranked[:400], "output_tokens")
