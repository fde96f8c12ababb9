"""OpenAI's hosted models: the worked examples of its guide, and bills that users published."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.tokens.registry import build

HIGH, LOW = {"detail": "high"}, {"detail": "low"}


@pytest.mark.parametrize(
    ("detail", "size", "tokens"),
    [(HIGH, (1024, 1024), 765), (HIGH, (2048, 4096), 1105), (LOW, (4096, 8192), 85)],
)
def test_examples_of_the_guide_for_gpt_4o(detail, size, tokens):
    assert build("gpt-4o", detail).image(*size).tokens == tokens


@pytest.mark.parametrize(("size", "patches"), [((1024, 1024), 1024), ((1800, 2400), 1452)])
def test_examples_of_the_guide_for_1536_patches(size, patches):
    assert build("gpt-5-mini", HIGH).image(*size).encoder_patches == patches
    assert build("gpt-5-mini", HIGH | {"multiplier": 1}).image(*size).tokens == patches


# community.openai.com/t/1262691: a picture of 128x64 beside eleven or twelve tokens of text; /t/1281361 and /t/1230130:
# beside eight.
@pytest.mark.parametrize(
    ("model", "detail", "size", "billed", "text"),
    [
        ("gpt-4o", HIGH, (128, 64), 267, 12),
        ("gpt-4o", LOW, (128, 64), 97, 12),
        ("gpt-4o-mini", HIGH, (128, 64), 8512, 12),
        ("gpt-4o-mini", LOW, (128, 64), 2845, 12),
        ("o3", HIGH, (128, 64), 236, 11),
        ("o3", LOW, (128, 64), 86, 11),
        ("o4-mini", HIGH, (128, 64), 26, 11),
        ("gpt-4.1-mini", HIGH, (128, 64), 26, 12),
        ("gpt-4.1-mini", LOW, (128, 64), 26, 12),
        ("gpt-4.1-nano", HIGH, (128, 64), 33, 12),
        ("gpt-4.1", HIGH, (2049, 513), 1453, 8),
        ("gpt-4.1", HIGH, (2050, 513), 773, 8),
        ("gpt-4.1-mini", HIGH, (2400, 1800), 2362, 8),
        ("gpt-4.1-mini", HIGH, (4000, 1474), 2498, 8),
    ],
)  # fmt: skip
def test_published_bills(model, detail, size, billed, text):
    assert build(model, detail).image(*size).prompt_tokens == billed - text


@pytest.mark.parametrize(
    ("model", "low", "tile"),
    [("gpt-4.5", 85, 170), ("gpt-4o-mini", 2833, 5667), ("o1", 75, 150), ("gpt-5", 70, 140), ("computer-use-preview", 65, 129)],
)  # fmt: skip
def test_each_model_has_its_own_base_and_tile(model, low, tile):
    assert build(model, LOW).image(512, 512).tokens == low
    assert build(model, HIGH).image(512, 512).tokens == low + tile


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5-mini"])
def test_a_part_may_ask_for_its_own_detail(model):
    rules = build(model)
    assert rules.detailed("low") == build(model, LOW)
    assert rules.detailed("original") == rules
    auto, high = rules.image(1000, 1000), rules.detailed("high").image(1000, 1000)
    assert (auto.tokens, auto.exact, high.exact) == (high.tokens, False, True)
    assert rules.detailed("low").image(1000, 1000).tokens < high.tokens


def test_open_models_do_not_look_at_detail():
    rules = build("qwen2-vl")
    assert rules.detailed("low") is rules


@given(st.integers(1, 70_000), st.integers(1, 70_000))
def test_no_picture_costs_more_than_the_budget(width, height):
    cost = build("o4-mini", HIGH).image(width, height)
    assert 1 <= cost.encoder_patches <= 1536
    assert build("gpt-4o", HIGH).image(width, height).tokens <= 85 + 8 * 170
