"""Learning a tokenizer from usage."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.request import TextMeasure
from forebay.estimators.text_tokens import TextTokens

counts = st.integers(0, 100_000)
measures = st.builds(TextMeasure, counts, counts, counts, counts, st.integers(0, 50))


def test_priors_by_hand():
    assert TextTokens().estimate(TextMeasure(ascii_bytes=400, messages=1)) == 100 + 5 + 3
    assert TextTokens().estimate(TextMeasure(three_byte_bytes=300, messages=2)) == 66 + 10 + 3


def test_a_whole_tokenizer_is_learned_within_a_hundred_requests():
    rng, text = random.Random(5), TextTokens()

    def true_tokens(measure):
        return round(0.4 * measure.ascii_bytes + 0.33 * measure.three_byte_bytes + 9 * measure.messages + 20)

    def example():
        return TextMeasure(
            rng.randrange(3000), 0, rng.choice([0, rng.randrange(2000)]), 0, rng.randrange(1, 9)
        )

    for _ in range(100):
        measure = example()
        text.learn(measure, true_tokens(measure))
    for _ in range(20):
        measure = example()
        assert text.estimate(measure) == pytest.approx(true_tokens(measure), rel=0.1, abs=15)


def test_one_prompt_repeated_is_soon_exact():
    text, measure = TextTokens(), TextMeasure(ascii_bytes=24, messages=1)
    for _ in range(12):
        text.learn(measure, 33)
    assert abs(text.estimate(measure) - 33) <= 1


@pytest.mark.parametrize("tokens", [0, -5])
def test_reports_of_nothing_are_ignored(tokens):
    text, measure = TextTokens(), TextMeasure(ascii_bytes=4000)
    before = text.estimate(measure)
    text.learn(measure, tokens)
    assert text.estimate(measure) == before


@given(st.lists(st.tuples(measures, st.integers(1, 10**6)), max_size=20), measures)
def test_an_estimate_is_at_least_one(reports, measure):
    text = TextTokens()
    for seen, tokens in reports:
        text.learn(seen, tokens)
    assert text.estimate(measure) >= 1
    assert text.estimate(TextMeasure()) >= 1
