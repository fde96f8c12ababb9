"""Every family against what the `transformers` package itself answers (tools/golden), and against the published table."""

import json
from pathlib import Path

import pytest

from forebay.intake.tokens.registry import FAMILIES, build

GOLDEN = Path(__file__).parents[2] / "golden"
MEASURED = sorted(path.stem for path in GOLDEN.glob("*.json"))


# Families that write text before each frame, whose tokens each tokenizer cuts its own way.
LABELLED = {"gemma-4", "internvl"}


def sets(kind):
    return [
        pytest.param(family, vectors["settings"], vectors["rows"], id=f"{family}-{index}")
        for family in MEASURED
        for index, vectors in enumerate(json.loads((GOLDEN / f"{family}.json").read_text()).get(kind, []))
    ]


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"generic"}))
def test_vectors_of_every_family_are_there(family):
    """Of the family, or of the one that it changes nothing but the defaults of."""
    assert any(getattr(rules, "name", "") in MEASURED for rules in FAMILIES[family].__mro__)


def test_vectors_stand_for_families_that_there_are():
    assert set(MEASURED) <= set(FAMILIES)


@pytest.mark.parametrize(("family", "settings", "rows"), sets("images"))
def test_pictures_cost_what_transformers_says(family, settings, rows):
    rules = build(family, settings)
    assert len(rows) >= 40
    wrong = []
    for width, height, tokens in rows:
        cost = rules.image(width, height)
        if tokens is not None and cost.tokens != tokens:
            wrong.append((width, height, tokens, cost.tokens))
        assert cost.tokens > 0
        assert cost.encoder_patches > 0
    assert wrong == []


@pytest.mark.parametrize(("family", "settings", "rows"), sets("images"))
def test_a_size_that_transformers_refuses_is_priced_and_marked(family, settings, rows):
    rules = build(family, settings)
    for width, height, tokens in rows:
        if tokens is None:
            assert not rules.image(width, height).exact, (width, height)
        elif not settings.get("pan_and_scan"):
            assert rules.image(width, height).exact, (width, height)


@pytest.mark.parametrize(("family", "settings", "rows"), sets("videos"))
def test_clips_cost_what_transformers_says(family, settings, rows):
    rules = build(family, settings)
    wrong = []
    for width, height, frames, fps, taken, tokens, *digits in rows:
        cost = rules.video(width, height, frames, frames * 1_000_000 // fps)
        if tokens is None:
            assert not cost.exact, (width, height, frames, fps)
            assert cost.tokens > 0
        elif (cost.tokens, cost.exact) != (tokens, family not in LABELLED):
            wrong.append((width, height, frames, fps, taken, tokens, cost))
        elif digits:
            layers = -(-taken // 2)
            # A stamp on the edge of one digit more may fall either way, since the rate is found from whole microseconds.
            assert abs(cost.wrapper_tokens - 7 * layers - digits[0]) <= 1
    assert wrong == []


@pytest.mark.parametrize(("family", "settings", "rows"), sets("audio"))
def test_sounds_cost_what_transformers_says(family, settings, rows):
    rules = build(family, settings)
    for samples, tokens in rows:
        cost = rules.audio(samples * 1_000_000 // 16_000)
        assert (cost.tokens, cost.exact) == ((tokens, True) if tokens else (1, False)), samples


SIZES = [
    (224, 224),
    (640, 360),
    (640, 480),
    (1280, 720),
    (1920, 1080),
    (1080, 1920),
    (3840, 2160),
    (2480, 3508),
    (2000, 100),
]
TABLE = [
    ("qwen2-vl", {"max_pixels": 1280 * 28 * 28}, [64, 299, 391, 1196, 1222, 1222, 1222, 1260, 284]),
    ("qwen2.5-vl", {}, [64, 299, 391, 1196, 2691, 2691, 10549, 11125, 284]),
    ("qwen3-vl", {}, [64, 220, 300, 880, 2040, 2040, 8160, 8580, 186]),
    ("llava-1.5", {}, [576] * 9),
    ("llava-next", {}, [1176, 1948, 2340, 1948, 1948, 1968, 1948, 2256, 868]),
    ("internvl", {}, [256, 768, 3328, 2304, 2304, 2304, 2304, 1792, 3328]),
    ("pixtral", {}, [210, 943, 1230, 2340, 2340, 2368, 2340, 3008, 260]),
    ("mistral-3", {}, [72, 312, 432, 1222, 1736, 1760, 1736, 2200, 168]),
    ("gemma-3", {}, [256] * 9),
    ("gemma-3", {"pan_and_scan": True}, [256, 768, 768, 768, 768, 768, 768, 768, 256]),
    ("llama-4", {}, [144, 720, 720, 1872, 2304, 2304, 2304, 2304, 1008]),
    ("phi-4-multimodal", {}, [545, 753, 1065, 1596, 3918, 3953, 7392, 9345, 597]),
    ("phi-3-vision", {}, [2509, 2353, 1921, 2353, 2353, 2377, 2353, 1933, 2473]),
    ("idefics3", {}, [2873, 2197, 2197, 2197, 2197, 2197, 2197, 2197, 845]),
    ("gpt-4o", {}, [255, 425, 425, 1105, 1105, 1105, 1105, 1105, 765]),
    ("gpt-4.1-mini", {"multiplier": 1}, [49, 240, 300, 920, 1508, 1508, 1508, 1472, 252]),
    ("fuyu", {}, [72, 276, 368, 1056, 2340, 792, 2340, 972, 260]),
]  # fmt: skip


@pytest.mark.parametrize(("family", "settings", "expected"), TABLE)
def test_table_of_usual_sizes(family, settings, expected):
    rules = build(family, settings)
    assert [rules.image(*size).tokens for size in SIZES] == expected


@pytest.mark.parametrize(("seconds", "tokens"), [(10, 250), (30, 750), (45, 750)])
def test_qwen2_audio_makes_25_tokens_a_second_of_one_window(seconds, tokens):
    assert build("qwen2-audio").audio(seconds * 1_000_000).tokens == tokens
