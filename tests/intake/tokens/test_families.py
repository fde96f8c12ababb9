"""What the families share: unknown sizes, animations, abilities, wrapper tokens, settings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import MediaCost, Rules
from forebay.intake.tokens.registry import FAMILIES, build

SEES = sorted(name for name, family in FAMILIES.items() if Ability.IMAGE in family.abilities)
HEARS = sorted(name for name, family in FAMILIES.items() if Ability.AUDIO in family.abilities)
WATCHES = sorted(name for name, family in FAMILIES.items() if Ability.VIDEO in family.abilities)
SIDES = st.integers(1, 70_000)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_answers_for_its_abilities_and_none_for_the_rest(family):
    rules = build(family)
    assert (rules.image(64, 48) is not None) == (family in SEES)
    assert (rules.audio(1_000_000) is not None) == (family in HEARS)
    assert (rules.video(64, 48, 30, 1_000_000) is not None) == (family in WATCHES)


def test_the_ground_of_all_families_takes_nothing():
    assert (Rules().image(1, 1), Rules().audio(1), Rules().video(1, 1, 1, 1)) == (None, None, None)


@pytest.mark.parametrize("family", SEES)
def test_a_picture_of_unknown_size_is_never_free(family):
    cost = build(family).image(0, 0)
    assert cost.tokens > 0
    assert cost.exact == (family == "llava-1.5")


def test_the_assumed_side_is_a_setting():
    assert build("qwen2-vl", {"assumed_side": 280}).image(0, 0).tokens == 100


@pytest.mark.parametrize("family", HEARS)
def test_a_sound_of_unknown_length_is_never_free(family):
    cost = build(family).audio(0)
    assert cost.tokens > 0
    assert not cost.exact


@pytest.mark.parametrize("family", WATCHES)
@pytest.mark.parametrize("measures", [(0, 0, 0, 0), (640, 480, 0, 0), (640, 480, 0, 5_000_000), (640, 480, 90, 0), (0, 0, 90, 3_000_000)])  # fmt: skip
def test_a_clip_of_unknown_measures_is_never_free(family, measures):
    cost = build(family).video(*measures)
    assert cost.tokens > 0
    assert not cost.exact


@given(SIDES, SIDES, st.integers(0, 500), st.integers(0, 9))
def test_any_picture_has_a_price(width, height, frames, orientation):
    for family in SEES:
        cost = build(family).image(width, height, frames, orientation)
        assert cost.tokens > 0
        assert cost.encoder_patches > 0


@given(SIDES, SIDES, st.integers(1, 500_000), st.integers(1, 10**11))
def test_any_clip_has_a_price(width, height, frames, duration_us):
    for family in WATCHES:
        assert build(family).video(width, height, frames, duration_us).tokens > 0


@given(st.integers(1, 10**11))
def test_any_sound_has_a_price(duration_us):
    for family in HEARS:
        assert build(family).audio(duration_us).tokens > 0


@pytest.mark.parametrize("family", ["qwen2-vl", "llava-1.5"])
def test_an_animation_costs_one_frame_unless_the_engine_takes_more(family):
    one = build(family).image(64, 48)
    assert build(family).image(64, 48, frames=12) == one
    five = build(family, {"animation_frames": 5}).image(64, 48, frames=12)
    assert (five.tokens, five.encoder_patches, five.exact) == (5 * one.tokens, 5 * one.encoder_patches, True)


def test_exif_is_applied_only_where_the_engine_does_and_only_if_it_turns():
    rules = build("internvl", {"applies_exif": True})
    assert rules.image(420, 140, orientation=3) == rules.image(420, 140)
    assert rules.image(2000, 100, orientation=8) == rules.image(100, 2000)


@pytest.mark.parametrize(
    ("family", "settings", "wrapper"),
    [("qwen2-vl", {}, 2), ("qwen3-vl", {}, 2), ("internvl", {}, 2), ("gemma-3", {}, 4), ("gemma-3", {"wrapper_tokens": 2}, 2), ("pixtral", {}, 0), ("llava-1.5", {}, 0), ("llava-next", {}, 0), ("gemma-4", {}, 2), ("fuyu", {}, 1), ("llama-4", {}, 3 + 4), ("phi-4-multimodal", {}, 0), ("kimi-vl", {}, 4), ("smolvlm", {}, 3 + 3 * 9)],
)  # fmt: skip
def test_wrapper_tokens_stand_apart(family, settings, wrapper):
    cost = build(family, settings).image(640, 480)
    assert cost.wrapper_tokens == wrapper
    assert cost.prompt_tokens == cost.tokens + wrapper


def test_cross_attended_sound_takes_no_place_in_the_prompt():
    cost = build("whisper").audio(45_000_000)
    assert (cost.tokens, cost.encoder_patches, cost.prompt_tokens, cost.exact) == (3000, 3000, 0, True)


@pytest.mark.parametrize("size", [(320, 240), (2000, 1000), (0, 0)])
def test_cross_attended_pictures_cost_the_encoder_and_one_place_in_the_prompt(size):
    cost = build("llama-3.2-vision").image(*size)
    assert cost.cross_attended
    assert (cost.encoder_patches, cost.prompt_tokens) == (4 * 1601, 1)
    assert cost.exact == (size != (0, 0))


# What a host of that model bills: 1,601 tokens a tile of 560 pixels.
@pytest.mark.parametrize(
    ("size", "tiles"), [((559, 559), 1), ((800, 559), 2), ((559, 800), 2), ((800, 800), 4)]
)
def test_llama_32_vision_attends_to_1601_positions_a_tile(size, tiles):
    assert build("llama-3.2-vision").image(*size).tokens == 1601 * tiles


# vLLM's own tests of Phi-3.5-vision, over a picture of 1300x876.
@pytest.mark.parametrize(
    ("family", "settings", "tokens"),
    [("phi-3.5-vision", {}, 757), ("phi-3.5-vision", {"max_crops": 16}, 1921), ("phi-3-vision", {}, 1921)],
)
def test_phi_3_vision_as_vllm_counts_it(family, settings, tokens):
    assert build(family, settings).image(1300, 876).tokens == tokens


def test_a_picture_that_kimi_vl_refuses_for_its_length_is_marked_and_kimi_k25_shrinks_it():
    assert not build("kimi-vl").image(14, 7_168).exact
    assert build("kimi-vl").image(14, 7_112).exact
    assert build("kimi-k2.5").image(14, 20_000) == build("kimi-k2.5").image(14, 7_168)


def test_the_newer_kimi_vl_sees_four_times_as_many_patches():
    assert build("kimi-vl").image(1792, 1792).tokens == 32 * 32
    assert build("kimi-vl-2506").image(1792, 1792).tokens == 64 * 64


def test_idefics3_shows_a_small_picture_once_and_a_whole_one_without_tiles_on_request():
    assert build("idefics3", {"longest_edge": 300}).image(4000, 3000) == MediaCost(169, 3, 676)
    assert build("idefics3", {"splitting": False}).image(4000, 3000) == MediaCost(169, 3, 676)
    assert build("idefics3").image(1456, 728) == MediaCost(169 * 9, 3 + 2 * 9, 676 * 9)


def test_llama_4_may_be_told_to_enlarge_as_far_as_it_can():
    assert build("llama-4").image(336, 336).tokens == 144
    assert build("llama-4", {"resize_to_max_canvas": True}).image(336, 336).tokens == 144 * 17


@pytest.mark.parametrize(
    ("samples", "windows"), [(1, 1), (24_000, 1), (479_839, 1), (479_840, 2), (1_000_000, 3)]
)
def test_llama_cpp_makes_tokens_of_the_padding_too(samples, windows):
    cost = build("qwen2-audio", engine="llama.cpp").audio(samples * 1_000_000 // 16_000)
    assert cost == MediaCost(750 * windows, 2, 1500 * windows)


# Read off a real llama.cpp server with the tiny model, and a real vLLM: tokens without the two marks.
@pytest.mark.parametrize(
    ("size", "llama_cpp", "vllm"),
    [
        ((112, 112), 16, 16), ((140, 112), 20, 20), ((224, 224), 64, 64), ((300, 200), 54, 54), ((640, 480), 54, 54),
        ((182, 270), 54, 60), ((83, 182), 21, 18), ((98, 98), 16, 16), ((70, 126), 15, 8), ((3000, 2000), 54, 54), ((1, 1), 9, 9),
    ],
)  # fmt: skip
def test_each_engine_rounds_its_own_way(size, llama_cpp, vllm):
    settings = {"min_pixels": 6272, "max_pixels": 50176}
    assert build("qwen2-vl", settings, "llama.cpp").image(*size).tokens == llama_cpp
    assert build("qwen2-vl", settings, "vllm").image(*size).tokens == vllm


@pytest.mark.parametrize(
    ("size", "tokens"), [((3, 1000), 36), ((1000, 3), 36), ((2000, 8), 126), ((28, 6000), 117)]
)
def test_llama_cpp_knows_no_limit_of_aspect(size, tokens):
    cost = build("qwen2-vl", {"min_pixels": 6272, "max_pixels": 50176}, "llama.cpp").image(*size)
    assert (cost.tokens, cost.exact) == (tokens, True)
    assert not build("qwen2-vl", engine="vllm").image(*size).exact


# Read off a real vLLM 0.32 with the tiny model, which takes two frames a second of both clips.
@pytest.mark.parametrize(("frames", "seconds", "tokens"), [(300, 10, 150), (6, 3, 45)])
def test_vllm_samples_a_clip_as_the_models_processor_does(frames, seconds, tokens):
    tiny = build("qwen2-vl", {"min_pixels": 6272, "max_pixels": 50176}, "vllm")
    assert tiny.video(128, 96, frames, seconds * 1_000_000).tokens == tokens


@pytest.mark.parametrize("family", ["internvl", "llava-onevision"])
def test_vllm_spreads_32_frames_where_it_has_no_loader_of_the_models_own(family):
    by_rate = {"sampling": {"fps": 1, "min_frames": 1}}
    served = build(family, engine="vllm", served=by_rate).video(128, 96, 300, 10_000_000)
    assert served == build(family, {"sampling": {"num_frames": 32}}).video(128, 96, 300, 10_000_000)
    assert served.tokens > build(family, by_rate, "vllm").video(128, 96, 300, 10_000_000).tokens


def test_transformers_walks_over_a_clip_by_a_float_and_takes_one_frame_more_at_times():
    clip = (56, 56, 218, 10_900_000)  # 22 frames wanted, and 218 / (218 / 22) is a little more
    sampling = {"sampling": {"fps": 2.02}}
    assert build("qwen2-vl", sampling).video(*clip).tokens == 12 * 4
    assert build("qwen2-vl", {**sampling, "float_steps": False}).video(*clip).tokens == 11 * 4


def test_sglang_bounds_each_frame_of_a_clip():
    rules = build("qwen2.5-vl", engine="sglang")
    assert rules.video(1920, 1080, 300, 10_000_000).tokens == 10 * 36 * 20
    # 768 frames share 0.9 of 128,000 cells: 300 to each two, of which this aspect fills 23 x 12.
    assert rules.video(1920, 1080, 90_000, 3_000_000_000).tokens == 384 * 23 * 12


def test_wrapper_tokens_of_gemma_under_llama_cpp():
    assert build("gemma-3", engine="llama.cpp").image(64, 64).wrapper_tokens == 2


def test_qwen3_vl_under_llama_cpp_rounds_its_way():
    assert build("qwen3-vl", engine="llama.cpp").image(1000, 1).exact
    assert build("qwen3-vl", engine="llama.cpp").image(400, 400).tokens == 13 * 13
    assert build("qwen3-vl").image(400, 400).tokens == 12 * 12


def test_qwen2_vl_as_the_tiny_model_is_served():
    rules = build("qwen2-vl", {"min_pixels": 6272, "max_pixels": 50176})
    assert rules.image(1280, 720).tokens <= 64
    assert rules.image(28, 28).tokens == 9


def test_internvl_clip_is_a_tile_a_frame_with_labels():
    cost = build("internvl", {"sampling": {"num_frames": 10}}).video(1920, 1080, 300, 10_000_000)
    assert cost.tokens == 2560
    assert cost.wrapper_tokens == 10 * 2 + 9 * 5 + 6 - 1


def test_gemma_crops_are_priced_with_the_text_around_them():
    cost = build("gemma-3", {"pan_and_scan": True}).image(1920, 1080)
    assert (cost.tokens, cost.encoder_patches, cost.exact) == (768, 3 * 4096, False)
    assert cost.wrapper_tokens > 12


def test_generic_rates_are_settings():
    rules = build("generic", {"tokens_per_image": 7, "tokens_per_audio_second": 0.1, "patches_per_token": 1})
    assert rules.image(9, 9) == MediaCost(7, 0, 7, exact=False)
    assert rules.audio(1_000_000) == MediaCost(1, 0, 1, exact=False)
