"""What a served model's files say together: which goes first, whom they name, and what clips are left with."""

import pytest

from forebay.intake.tokens.internvl import InternVL
from forebay.intake.tokens.pixtral import Pixtral
from forebay.intake.tokens.qwen2_vl import Qwen2VL
from forebay.intake.tokens.qwen3_vl import Qwen3VL
from forebay.intake.tokens.qwen_omni import Qwen3Omni
from forebay.intake.tokens.served import Layer, Served, nested, served
from forebay.intake.tokens.ultravox import Ultravox


def of(**files):
    return served(**{name: Layer(name, data) for name, data in files.items()})


def values(said):
    return {parameter: (each.value, each.file) for parameter, each in said.items()}


def test_a_nested_processor_goes_before_its_own_file_and_that_before_what_is_general():
    said = of(
        config={"spatial_merge_size": 2, "patch_size": 99},
        processor={"patch_size": 88, "image_processor": {"size": {"longest_edge": 1540}}},
        preprocessor={"size": {"longest_edge": 1}, "patch_size": {"height": 14}},
    )
    assert values(said.stated(Pixtral)) == {
        "longest_edge": (1540, "processor"),
        "patch_size": (14, "preprocessor"),
        "merge_size": (2, "config"),
    }


def test_the_first_file_that_says_something_is_believed_whatever_the_order_of_places():
    said = of(preprocessor={"size": {"longest_edge": 5}}, config={"max_pixels": 7})
    assert said.stated(Qwen2VL)["max_pixels"].place == "size.longest_edge"


def test_clips_have_a_configuration_of_their_own():
    own = {"size": {"shortest_edge": 1, "longest_edge": 2}, "fps": 1, "num_frames": None}
    expected = {"video_min_pixels": 1, "video_max_pixels": 2, "sampling": {"fps": 1}}
    assert nested(of(video=own).stated(Qwen3VL)) == expected
    both = of(processor={"video_processor": own}, video={"fps": 9, "max_frames": 9})
    assert nested(both.stated(Qwen3VL)) == expected


def test_without_one_they_take_the_pictures_where_that_is_not_so_anyway():
    pictures = {"size": {"shortest_edge": 1, "longest_edge": 2}}
    assert nested(of(preprocessor=pictures).stated(Qwen3VL)) == {
        "min_pixels": 1, "max_pixels": 2, "video_min_pixels": 1, "video_max_pixels": 2,
    }  # fmt: skip
    assert nested(of(preprocessor=pictures).stated(Qwen2VL)) == {"min_pixels": 1, "max_pixels": 2}
    alone = Served((Layer("preprocessor", pictures),))
    assert nested(alone.stated(Qwen3VL)) == {"min_pixels": 1, "max_pixels": 2}


def test_the_size_of_omnis_clips_is_not_in_its_files():
    said = of(preprocessor={"max_pixels": 7}, video={"max_pixels": 9, "max_frames": 5}).stated(Qwen3Omni)
    assert nested(said) == {"max_pixels": 7, "sampling": {"max_frames": 5}}


@pytest.mark.parametrize(
    ("family", "config", "said"),
    [
        (Ultravox, {"stack_factor": 4}, {"stack_factor": 4}),
        (InternVL, {"force_image_size": 336, "max_dynamic_patch": 6, "use_thumbnail": False}, {"tile_size": 336, "max_tiles": 6, "thumbnail": False}),
    ],
)  # fmt: skip
def test_some_models_keep_it_in_config_json(family, config, said):
    assert nested(of(config=config, preprocessor={"crop_size": 448, "size": 448}).stated(family)) == said


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, ("", "")),
        ({"config": {"model_type": "qwen2_vl"}, "preprocessor": {"processor_class": "Qwen3VLProcessor"}}, ("qwen3-vl", "preprocessor")),
        ({"config": {"model_type": "llava_next_video", "architectures": [None, "Qwen2VLForConditionalGeneration"]}}, ("qwen2-vl", "config")),
        ({"preprocessor": {"image_processor_type": "LlavaNextImageProcessor"}}, ("llava-next", "preprocessor")),
        ({"config": {"model_type": 5}, "preprocessor": {"image_processor_type": "CLIPImageProcessor"}}, ("", "")),
    ],
)  # fmt: skip
def test_the_surest_name_wins(files, found):
    assert of(**files).family() == found
