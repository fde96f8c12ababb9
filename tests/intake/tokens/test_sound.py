"""Families that hear: the rates that their papers and cards name, and lengths that transformers refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.ability import Ability
from forebay.intake.tokens.registry import FAMILIES, build

SECOND = 1_000_000
HEARS = sorted(name for name, rules in FAMILIES.items() if Ability.AUDIO in rules.abilities)


@pytest.mark.parametrize(
    ("family", "seconds", "tokens", "wrapper"),
    [
        ("qwen2-audio", 10, 250, 2),
        ("qwen2.5-omni", 10, 250, 2),
        ("qwen2.5-omni", 400, 7_500, 2),  # cut off at 300 seconds
        ("qwen3-omni", 10, 130, 2),
        ("qwen3-omni", 3_600, 46_800, 2),  # never cut off
        ("ultravox", 10, 63, 0),
        ("ultravox", 60, 376, 0),  # two pieces of 187.5, each rounded up
        ("voxtral", 10, 375, 1),
        ("voxtral", 31, 750, 1),
        ("phi-4-multimodal", 10, 125, 0),
        ("granite-speech", 10, 102, 0),
    ],
)
def test_sound_costs_what_its_length_makes(family, seconds, tokens, wrapper):
    cost = build(family).audio(seconds * SECOND)
    assert (cost.tokens, cost.wrapper_tokens, cost.exact) == (tokens, wrapper, True)


@pytest.mark.parametrize("family", ["qwen2-audio", "qwen2.5-omni", "qwen3-omni", "phi-4-multimodal", "granite-speech"])  # fmt: skip
def test_what_is_too_short_for_the_family_costs_a_token_and_is_marked(family):
    cost = build(family).audio(1)
    assert (cost.tokens, cost.exact) == (1, False)


def test_vllm_fills_the_last_mel_frame_of_qwen3_omni_up():
    length_us = SECOND + 1_000
    assert build("qwen3-omni").audio(length_us).tokens == 13
    assert build("qwen3-omni", engine="vllm").audio(length_us).tokens == 14


def test_a_length_that_is_not_known_is_a_setting():
    assert build("voxtral", {"assumed_seconds": 61}).audio(0).tokens == 3 * 375


@pytest.mark.parametrize("family", HEARS)
@given(length=st.integers(1, 400 * SECOND), more=st.integers(1, 60 * SECOND))
def test_longer_sound_never_costs_less(family, length, more):
    rules = build(family)
    assert rules.audio(length).tokens <= rules.audio(length + more).tokens
