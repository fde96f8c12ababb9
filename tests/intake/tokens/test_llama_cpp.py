"""llama.cpp's own ways with pictures, against what a real server counted (tools/golden/llama_cpp.py)."""

import json
from pathlib import Path

import pytest

from forebay.intake.tokens.family import MediaCost
from forebay.intake.tokens.registry import build

COUNTED = json.loads((Path(__file__).parents[2] / "golden" / "engines" / "llama.cpp.json").read_text())


@pytest.mark.parametrize("family", COUNTED["families"])
def test_pictures_add_the_prompt_tokens_that_llama_cpp_counts(family):
    rules = build(family, engine="llama.cpp")
    rows = COUNTED["families"][family]
    assert len(rows) >= 10
    costs = {(width, height): rules.image(width, height) for width, height, _ in rows}
    assert {size: cost.prompt_tokens for size, cost in costs.items()} == {
        (w, h): count for w, h, count in rows
    }
    assert all(cost.exact for cost in costs.values())


@pytest.mark.parametrize("family", ["pixtral", "kimi-vl", "gemma-4", "llama-4", "llava-next", "internvl"])
def test_other_engines_count_otherwise(family):
    rows = COUNTED["families"][family]
    rules = build(family, engine="vllm")
    assert any(rules.image(width, height).prompt_tokens != count for width, height, count in rows)


# Read off a real server with the tiny Qwen2-VL and no bounds of its own: tokens without the two marks.
@pytest.mark.parametrize(
    ("size", "tokens"),
    [((28, 28), 9), ((100, 60), 8), ((640, 480), 391), ((1920, 1080), 2691), ((2000, 1800), 4020), ((3840, 2160), 4080)],
)  # fmt: skip
def test_qwen_is_bounded_whatever_its_files_say(size, tokens):
    assert build("qwen2-vl", engine="llama.cpp").image(*size).tokens == tokens


def test_bounds_are_those_that_the_server_was_started_with():
    rules = build("gemma-4", {"cell_bounds": [40, 280]}, "llama.cpp")
    assert [rules.image(*size).tokens for size in ((224, 224), (1920, 1080), (1536, 1680))] == [49, 264, 272]


def test_gemma_4_of_the_small_kind_attends_one_way_and_may_see_more():
    assert build("gemma-4-e4b", engine="llama.cpp").image(1920, 1080).tokens == 40 * 23
    assert build("gemma-4", engine="llama.cpp").image(1920, 1080).tokens < 512


def test_kimi_writes_two_of_its_four_marks():
    assert build("kimi-vl", engine="llama.cpp").image(280, 280) == MediaCost(100, 2, 400)
