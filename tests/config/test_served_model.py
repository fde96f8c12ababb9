"""A served model's own files: what `transformers` makes of them is what the gateway does, and faults are told."""

import json
from pathlib import Path

import msgspec
import pytest

from forebay.config.assemble import Recipe, assemble, follow, load
from forebay.config.companions import MAX_BYTES, Companions
from forebay.config.document import Document
from forebay.config.errors import ConfigError

GOLDEN = Path(__file__).parents[1] / "golden" / "served"
VECTORS = {path.stem: json.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.json"))}


def model_in(folder, **files):
    """A model's folder. A name without its ending stands for that JSON file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def assembled(folder, served="served", model="mine", **pool):
    endpoints = [{"url": "http://10.0.0.1:8000"}]
    data = {"pools": [{"model": model, "endpoints": endpoints, "preprocessor_config": str(served), **pool}]}
    return assemble(Document.of(data, "f.yaml", Companions(folder)))


def family_of(folder, **pool):
    return assembled(folder, **pool).pools[0].family


def fault(folder, **pool):
    with pytest.raises(ConfigError) as raised:
        assembled(folder, **pool)
    return str(raised.value)


@pytest.mark.parametrize("name", VECTORS)
def test_media_cost_what_transformers_says_after_reading_the_same_files(name, tmp_path):
    vectors = VECTORS[name]
    model_in(
        tmp_path / "served", **{file.removesuffix(".json"): data for file, data in vectors["files"].items()}
    )
    family = family_of(tmp_path)
    assert family.found_by.startswith("served/")
    rules = family.on("")
    answers = {
        "images": rules.image,
        "videos": lambda width, height, frames, fps: rules.video(
            width, height, frames, frames * 1_000_000 // fps
        ),
        "audio": lambda samples: rules.audio(samples * 1_000_000 // 16_000),
    }
    compared = 0
    for kind, answer in answers.items():
        for *measures, tokens in [row for each in vectors.get(kind, []) for row in each["rows"]]:
            cost = answer(*measures)
            assert (cost.tokens, cost.exact) == (tokens, True) if tokens else not cost.exact, measures
            compared += bool(tokens)
    assert compared > 30


def test_the_order_is_defaults_files_engine_and_then_the_owner(tmp_path):
    model_in(tmp_path / "served", preprocessor_config={"min_pixels": 6_272, "max_pixels": 50_176}, video_preprocessor_config={"fps": 1, "max_frames": 16})  # fmt: skip
    family = family_of(tmp_path, family={"name": "qwen2-vl", "max_pixels": 100_352})
    rules = family.on("")
    assert (rules.min_pixels, rules.max_pixels, rules.patch_size) == (6_272, 100_352, 14)
    assert (rules.sampling.fps, rules.sampling.max_frames, rules.sampling.num_frames) == (1, 16, None)
    on_vllm = family_of(tmp_path, family="internvl").on("vllm").sampling
    assert (on_vllm.num_frames, on_vllm.fps, on_vllm.max_frames) == (32, 1, 16)
    given = family_of(tmp_path, family={"name": "internvl", "sampling": {"fps": 4}}).on("vllm").sampling
    assert (given.num_frames, given.fps, given.max_frames) == (None, 4, 768)


def test_an_engine_that_is_found_out_later_keeps_what_the_files_say(tmp_path):
    model_in(tmp_path / "served", preprocessor_config={"patch_size": 28})
    family = family_of(tmp_path, model="qwen2-vl-mine")
    assert [family.on(engine).patch_size for engine in ("", "vllm", "llama.cpp")] == [28] * 3
    assert family.on("llama.cpp").resizer == "llama.cpp"


@pytest.mark.parametrize(
    ("model", "files", "name", "found_by"),
    [
        ("qwen2-vl-2b", {"config": {"model_type": "qwen3_vl"}}, "qwen2-vl", "the model's name"),
        ("mine", {"config": {"model_type": "qwen3_vl"}}, "qwen3-vl", "served/config.json"),
        ("mine", {"config": {"architectures": ["Gemma3ForConditionalGeneration"]}}, "gemma-3", "served/config.json"),
        ("mine", {"preprocessor_config": {"image_processor_type": "Qwen2VLImageProcessor", "processor_class": "Qwen3VLProcessor"}}, "qwen3-vl", "served/preprocessor_config.json"),
        ("mine", {"preprocessor_config": {"image_processor_type": "LlavaNextImageProcessor"}}, "llava-next", "served/preprocessor_config.json"),
        ("mine", {"config": {"model_type": "llava"}, "processor_config": {"processor_class": "PixtralProcessor"}}, "pixtral", "served/processor_config.json"),
        ("mine", {"preprocessor_config": {"image_processor_type": "CLIPImageProcessor", "processor_class": 7}}, "generic", ""),
    ],
)  # fmt: skip
def test_the_files_name_the_family_when_the_models_name_does_not(model, files, name, found_by, tmp_path):
    model_in(tmp_path / "served", **files)
    family = family_of(tmp_path, model=model)
    assert (family.name, family.found_by) == (name, found_by)


def test_one_file_may_be_named_and_says_nothing_of_clips(tmp_path):
    model_in(
        tmp_path / "served", preprocessor_config={"size": {"shortest_edge": 65_536, "longest_edge": 131_072}}
    )
    rules = family_of(tmp_path, served="served/preprocessor_config.json", model="qwen3-vl").on("")
    assert (rules.max_pixels, rules.video_max_pixels) == (131_072, 25_165_824)
    beside = family_of(tmp_path, model="qwen3-vl").on("")
    assert beside.video_max_pixels == 131_072  # transformers takes the pictures' file for clips then


def test_paths_are_relative_to_the_configuration_file(tmp_path, monkeypatch):
    model_in(tmp_path / "etc" / "models" / "mine", preprocessor_config={"max_pixels": 50_176})
    text = "pools:\n  - model: qwen2-vl\n    preprocessor_config: models/mine/\n    endpoints: [{url: 'http://h:1'}]\n"
    (tmp_path / "etc" / "f.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert load(Path("etc/f.yaml")).pools[0].family.on("").max_pixels == 50_176


def test_a_plan_that_is_put_together_again_is_made_of_the_same_texts(tmp_path):
    folder = model_in(tmp_path / "served", preprocessor_config={"max_pixels": 50_176})
    recipe = assembled(tmp_path, model="qwen2-vl").recipe
    (folder / "preprocessor_config.json").unlink()
    again = follow(msgspec.msgpack.decode(msgspec.msgpack.encode(recipe), type=Recipe))
    assert again.pools[0].family.on("").max_pixels == 50_176
    assert "served" in fault(tmp_path, model="qwen2-vl")


def test_unknown_keys_and_unstated_ones_change_nothing(tmp_path):
    model_in(
        tmp_path / "served", preprocessor_config={"image_mean": [0.5], "max_pixels": None, "size": 3, "x": {}}
    )
    family = family_of(tmp_path, model="qwen2-vl")
    assert family.stated == {}
    assert family.on("") == family_of(tmp_path, model="qwen2-vl", preprocessor_config="").on("")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, ["f.yaml: pools[0].preprocessor_config: served is no file, and no folder with preprocessor_config.json", "name the served model's folder"]),
        ({"preprocessor_config": "{"}, ["served/preprocessor_config.json is not JSON"]),
        ({"preprocessor_config": "[" * 100_000}, ["served/preprocessor_config.json is not JSON"]),
        ({"config": "[1]"}, ["served/config.json holds no JSON object"]),
        ({"preprocessor_config": {"max_pixels": 0}}, ["served/preprocessor_config.json has 0 at `max_pixels`: expected `int` >= 1", "give `max_pixels` under `family`"]),
        ({"preprocessor_config": {"size": {"longest_edge": "big"}}}, ["has 'big' at `size.longest_edge`: expected `int`, got `str`", "give `max_pixels`"]),
        ({"preprocessor_config": {"patch_size": 14}, "video_preprocessor_config": {"fps": -1}}, ["served/video_preprocessor_config.json has -1 at `fps`", "give `sampling` under `family`"]),
        ({"preprocessor_config": "x" * (MAX_BYTES + 1)}, ["served/preprocessor_config.json has more than 4,194,304 bytes"]),
    ],
    ids=["none", "cut", "deep", "list", "zero", "text", "clips", "huge"],
)  # fmt: skip
def test_faults_name_the_file_and_the_cure(files, told, tmp_path):
    model_in(tmp_path / "served", **files)
    message = fault(tmp_path, model="qwen2-vl")
    assert all(each in message for each in told), message


def test_what_cannot_be_decoded_is_told(tmp_path):
    model_in(tmp_path / "served")
    (tmp_path / "served" / "config.json").write_bytes(b"\xff\xfe")
    assert "served/config.json cannot be read: UnicodeDecodeError" in fault(tmp_path, model="qwen2-vl")


def test_a_wrong_value_that_the_owner_overrides_is_not_looked_at(tmp_path):
    model_in(tmp_path / "served", preprocessor_config={"max_pixels": 0, "min_pixels": 6_272})
    rules = family_of(tmp_path, family={"name": "qwen2-vl", "max_pixels": 50_176}).on("")
    assert (rules.min_pixels, rules.max_pixels) == (6_272, 50_176)


def test_what_the_owner_says_of_pictures_goes_for_clips_without_files_of_their_own(tmp_path):
    model_in(tmp_path / "served", preprocessor_config={"max_pixels": 12_845_056})
    told = family_of(tmp_path, family={"name": "qwen2-vl", "max_pixels": 50_176}).on("")
    assert told.video(640, 480, 2, 1_000_000).tokens == told.image(640, 480).tokens
    model_in(tmp_path / "served", video_preprocessor_config={"max_pixels": 100_352})
    own = family_of(tmp_path, family={"name": "qwen2-vl", "max_pixels": 50_176}).on("")
    assert own.video(640, 480, 2, 1_000_000).tokens > own.image(640, 480).tokens


def test_grids_are_read_as_lists(tmp_path):
    model_in(tmp_path / "served", preprocessor_config={"image_grid_pinpoints": [[336, 672], [672, 0]]})
    assert family_of(tmp_path, model="llava-next").on("").grid_pinpoints == ((336, 672), (672, 0))
    model_in(tmp_path / "served", preprocessor_config={"image_grid_pinpoints": [[336, "x"]]})
    assert "at `image_grid_pinpoints`" in fault(tmp_path, model="llava-next")


def test_parameters_without_a_name_go_to_the_family_that_is_found_out(tmp_path):
    model_in(
        tmp_path / "served", config={"model_type": "qwen2_vl"}, preprocessor_config={"min_pixels": 6_272}
    )
    family = family_of(tmp_path, family={"max_pixels": 50_176})
    assert (family.name, family.found_by) == ("qwen2-vl", "served/config.json")
    assert (family.on("").min_pixels, family.on("").max_pixels) == (6_272, 50_176)
    assert "did you mean `max_pixels`?" in fault(tmp_path, family={"max_pixel": 1})
    nobody = fault(tmp_path, preprocessor_config="", family={"max_pixels": 1})
    assert "neither the model's name nor its files: add `name`" in nobody


@pytest.mark.parametrize(
    ("model", "model_type", "doubt"),
    [("qwen2-vl", "qwen3_vl", "qwen3-vl"), ("qwen2-vl", "qwen2_5_vl", ""), ("mistral-small-3.1", "pixtral", ""), ("qwen2-vl", "", "")],
)  # fmt: skip
def test_files_that_disagree_with_the_models_name_raise_a_doubt(model, model_type, doubt, tmp_path):
    model_in(tmp_path / "served", config={"model_type": model_type})
    assert family_of(tmp_path, model=model).doubt == doubt
