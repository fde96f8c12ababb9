"""Prices by hand arithmetic."""

import pytest

from forebay.placement.cost import price, prompt_us


def test_a_price_is_demand_times_capacity(row, ask):
    demand = ask(text_tokens=100, image_tokens=400, encoder_patches=1600).demand
    cost = price(demand, 0.0, 0.0, row())
    assert cost.encode_us == 1600 * 3
    assert cost.prefill_us == 500 * 20 + 8_000
    assert cost.decode_us == 200 * 8_000
    assert cost.prompt_us == cost.encode_us + cost.prefill_us


def test_what_is_there_already_is_taken_off(row, ask):
    demand = ask(text_tokens=100, image_tokens=400, encoder_patches=1600).demand
    cost = price(demand, 450.0, 1600.0, row())
    assert (cost.encode_us, cost.prefill_us) == (0, 50 * 20 + 8_000)


def test_one_token_at_least_is_computed(row, ask):
    cost = price(ask().demand, 1e9, 1e9, row())
    assert (cost.encode_us, cost.prefill_us) == (0, 20 + 8_000)


@pytest.mark.parametrize(
    ("cached", "encoded"), [({}, {}), ({0: 450.0}, {0: 900.0}), ({1: 450.0}, {1: 900.0})]
)
def test_the_short_form_is_the_same_price(row, ask, cached, encoded):
    question = ask(cached=cached, encoded=encoded, image_tokens=400, encoder_patches=1600)
    long = price(question.demand, cached.get(0, 0.0), encoded.get(0, 0.0), row(0))
    assert prompt_us(question, row(0)) == pytest.approx(long.prompt_us)
