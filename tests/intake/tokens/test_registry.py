"""Families by name, from settings, from a preprocessor's configuration and from a model's name."""

import pytest

from forebay.intake.tokens.registry import (
    FAMILIES,
    FamilySettingsError,
    UnknownFamilyError,
    build,
    detect_family,
)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2.5-vl"),
        ("qwen2.5-vl-7b", "qwen2.5-vl"),
        ("Qwen2_5_VLForConditionalGeneration", "qwen2.5-vl"),
        ("Qwen/Qwen2-VL-2B-Instruct", "qwen2-vl"),
        ("tinyvlm", "qwen2-vl"),
        ("Qwen/Qwen3-VL-235B-A22B-Instruct-FP8", "qwen3-vl"),
        ("qwen3_vl_moe", "qwen3-vl"),
        ("Qwen/Qwen2-Audio-7B-Instruct", "qwen2-audio"),
        ("Qwen/Qwen2.5-Omni-7B", "qwen2.5-omni"),
        ("Qwen2_5OmniProcessor", "qwen2.5-omni"),
        ("Qwen/Qwen3-Omni-30B-A3B-Instruct", "qwen3-omni"),
        ("qwen3_omni_moe", "qwen3-omni"),
        ("fixie-ai/ultravox-v0_5-llama-3_2-1b", "ultravox"),
        ("fixie-ai/ultravox-v0_6-gemma-3-27b", "ultravox"),
        ("mistralai/Voxtral-Mini-3B-2507", "voxtral"),
        ("mistralai/Voxtral-Mini-4B-Realtime-2602", None),
        ("voxtral_realtime", None),
        ("ibm-granite/granite-speech-3.3-8b", "granite-speech"),
        ("ibm-granite/granite-4.0-1b-speech", "granite-speech"),
        ("granite_speech5_ctc", None),
        ("llava-hf/llava-1.5-7b-hf", "llava-1.5"),
        ("liuhaotian/llava-v1.5-13b", "llava-1.5"),
        ("llava-hf/llava-v1.6-mistral-7b-hf", "llava-next"),
        ("lmms-lab/LLaVA-NeXT-Video-7B", None),
        ("llava-hf/LLaVA-NeXT-Video-7B-hf", None),
        ("llava-hf/llava-interleave-qwen-0.5b-hf", None),
        ("lmms-lab/llava-next-interleave-qwen-7b", None),
        ("llava-hf/vip-llava-7b-hf", None),
        ("lmms-lab/LLaVA-Video-7B-Qwen2", None),
        ("LanguageBind/Video-LLaVA-7B-hf", None),
        ("llava-hf/llama3-llava-next-8b-hf", "llava-next"),
        ("llava-hf/llava-onevision-qwen2-7b-ov-hf", "llava-onevision"),
        ("LlavaOnevisionForConditionalGeneration", "llava-onevision"),
        ("lmms-lab/LLaVA-OneVision-1.5-8B-Instruct", None),
        ("OpenGVLab/InternVL3-8B", "internvl"),
        ("google/gemma-3-27b-it", "gemma-3"),
        ("google/gemma-3-12b-it", "gemma-3"),
        ("google/gemma-3-1b-it", None),
        ("google/gemma-3n-E4B-it", "gemma-3n"),
        ("google/gemma-4-E4B-it", "gemma-4-e4b"),
        ("google/gemma-4-31B-it", "gemma-4"),
        ("Gemma3nForConditionalGeneration", "gemma-3n"),
        ("mistralai/Pixtral-12B-2409", "pixtral"),
        ("mistralai/Mistral-Small-3.1-24B-Instruct-2503", "mistral-3"),
        ("mistralai/Mistral-Small-24B-Instruct-2501", None),
        ("Mistral3ForConditionalGeneration", "mistral-3"),
        ("mistralai/Ministral-3-8B-Instruct-2512", "mistral-3"),
        ("mistralai/Ministral-3-14B-Reasoning-2512", "mistral-3"),
        ("mistralai/Ministral-3B-Instruct", None),
        ("mistralai/Ministral-8B-Instruct-2410", None),
        ("mistralai/Mistral-7B-Instruct-v0.3", None),
        ("openai/whisper-large-v3-turbo", "whisper"),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4"),
        ("nvidia/Llama-4-Maverick-17B-128E-Instruct-FP8", "llama-4"),
        ("Llama4ForConditionalGeneration", "llama-4"),
        ("meta-llama/Llama-Guard-4-12B", None),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "llama-3.2-vision"),
        ("meta-llama/Llama-3.2-90B-Vision", "llama-3.2-vision"),
        ("MllamaForConditionalGeneration", "llama-3.2-vision"),
        ("meta-llama/Llama-3.2-1B-Instruct", None),
        ("Meta-Llama-405B", None),
        ("TinyLlama-4bit", None),
        ("gemma-4bit", None),
        ("vllm-llama", None),
        ("llama3.2:3b", None),
        ("microsoft/Phi-4-multimodal-instruct", "phi-4-multimodal"),
        ("phi4mm", "phi-4-multimodal"),
        ("microsoft/phi-4", None),
        ("microsoft/Phi-4-mini-instruct", None),
        ("adept/fuyu-8b", "fuyu"),
        ("microsoft/Phi-3-vision-128k-instruct", "phi-3-vision"),
        ("microsoft/Phi-3.5-vision-instruct", "phi-3.5-vision"),
        ("phi3_v", "phi-3-vision"),
        ("microsoft/Phi-3-mini-4k-instruct", None),
        ("microsoft/Phi-3.5-mini-instruct", None),
        ("microsoft/Phi-3.5-MoE-instruct", None),
        ("HuggingFaceM4/Idefics3-8B-Llama3", "idefics3"),
        ("HuggingFaceM4/idefics2-8b", None),
        ("HuggingFaceTB/SmolVLM-Instruct", "smolvlm"),
        ("HuggingFaceTB/SmolVLM2-2.2B-Instruct", "smolvlm"),
        ("HuggingFaceTB/SmolVLM2-500M-Video-Instruct", "smolvlm-500m"),
        ("HuggingFaceTB/SmolVLM-256M-Instruct", "smolvlm-500m"),
        ("ds4sd/SmolDocling-256M-preview", "smolvlm-500m"),
        ("HuggingFaceTB/SmolLM2-1.7B-Instruct", None),
        ("moonshotai/Kimi-VL-A3B-Instruct", "kimi-vl"),
        ("moonshotai/Kimi-VL-A3B-Thinking-2506", "kimi-vl-2506"),
        ("KimiVLForConditionalGeneration", "kimi-vl"),
        ("moonshotai/Kimi-K2.5", "kimi-k2.5"),
        ("moonshotai/Kimi-K2-Instruct-0905", None),
        ("moonshotai/Kimi-K2-Thinking", None),
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("openrouter/openai/gpt-4o", "gpt-4o"),
        ("chatgpt-4o-latest", "gpt-4o"),
        ("gpt-4.5-preview-2025-02-27", "gpt-4o"),
        ("gpt-4-turbo-2024-04-09", "gpt-4o"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4.1-nano-2025-04-14", "gpt-4.1-nano"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4o-mini-tts", None),
        ("gpt-4o-audio-preview", None),
        ("gpt-4-1106-preview", None),
        ("gpt-4-0613", None),
        ("gpt-5", "gpt-5"),
        ("gpt-5-chat-latest", "gpt-5"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-5-nano", "gpt-5-nano"),
        ("gpt-5.4", None),
        ("gpt-oss-120b", None),
        ("o1-2024-12-17", "o3"),
        ("o3", "o3"),
        ("o3-mini", None),
        ("o4-mini-2025-04-16", "o4-mini"),
        ("computer-use-preview", "computer-use-preview"),
        ("AIDC-AI/Marco-o1", None),
        ("someone/Qwen-7B-distilled-gpt-4o", None),
        ("meta-llama/Llama-3.1-8B-Instruct", None),
        ("Qwen/Qwen2.5-7B-Instruct", None),
        ("", None),
    ],
)
def test_detect_family(model, family):
    assert detect_family(model) == family
    assert family is None or family in FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_built_from_nothing(family):
    rules = build(family)
    assert rules.name in FAMILIES
    assert rules == build(family, {})


def test_an_unknown_family_is_told_with_the_nearest():
    with pytest.raises(UnknownFamilyError, match=r"`qwen2vl`: did you mean `qwen2-vl`\?"):
        build("qwen2vl")
    with pytest.raises(UnknownFamilyError, match="known are"):
        build("zzz")


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"min_pixel": 1}, "min_pixel"), ({"max_pixels": 0}, "max_pixels"), ({"max_pixels": "many"}, "max_pixels"), ({"sampling": {"fpss": 1}}, "sampling")],
)  # fmt: skip
def test_wrong_settings_are_told_by_name(settings, named):
    with pytest.raises(FamilySettingsError, match=named):
        build("qwen2-vl", settings)


@pytest.mark.parametrize(
    ("family", "configuration", "settings"),
    [
        ("qwen2-vl", {"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "image_mean": [0.5]}, {"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14}),
        ("qwen3-vl", {"size": {"shortest_edge": 65536, "longest_edge": 16777216}, "merge_size": 2}, {"min_pixels": 65536, "max_pixels": 16777216, "merge_size": 2}),
        ("internvl", {"size": {"height": 448, "width": 448}, "max_patches": 6}, {"tile_size": 448, "max_tiles": 6}),
        ("llava-1.5", {"crop_size": {"height": 336, "width": 336}, "size": 5}, {"image_size": 336}),
        ("llava-next", {"image_grid_pinpoints": [[336, 672]]}, {"grid_pinpoints": [[336, 672]]}),
        ("llava-onevision", {"image_grid_pinpoints": [[384, 768]], "size": {"height": 384, "width": 384}, "num_image_tokens": 729, "vision_aspect_ratio": "anyres_max_4"}, {"grid_pinpoints": [[384, 768]], "tile_size": 384, "tokens_per_tile": 729, "vision_aspect_ratio": "anyres_max_4"}),
        ("gemma-4", {"max_soft_tokens": 560, "patch_size": 16, "pooling_kernel_size": 3}, {"max_tokens": 560, "patch_size": 16, "pooling_size": 3}),
        ("pixtral", {"size": {"longest_edge": 1024}, "patch_size": {"height": 16, "width": 16}}, {"longest_edge": 1024, "patch_size": 16}),
        ("pixtral", {"patch_size": 16}, {"patch_size": 16}),
        ("gemma-3", {"do_pan_and_scan": None, "image_seq_length": 256}, {"tokens_per_picture": 256}),
        ("whisper", {"chunk_length": 30}, {"window_seconds": 30}),
        ("qwen3-omni", {"patch_size": 16, "hop_length": 160, "min_pixels": 3136}, {"patch_size": 16, "hop_length": 160, "min_pixels": 3136}),
        ("qwen2.5-omni", {"chunk_length": 300, "max_pixels": 12845056}, {"window_seconds": 300, "max_pixels": 12845056}),
        ("ultravox", {"stack_factor": 4, "audio_context_size": 3000}, {"stack_factor": 4, "context_frames": 3000}),
        ("granite-speech", {"melspec_kwargs": {"hop_length": 160, "sample_rate": 16000}}, {"hop_length": 160, "sampling_rate": 16000}),
        ("phi-4-multimodal", {"dynamic_hd": 36, "audio_compression_rate": 8}, {"max_crops": 36, "audio_compression_rate": 8}),
        ("gemma-3n", {"image_seq_length": 256, "audio_seq_length": 100}, {"tokens_per_picture": 256, "tokens_per_sound": 100}),
        ("gemma-4-e4b", {"max_soft_tokens": 70, "frame_length": 320, "audio_seq_length": 500}, {"max_tokens": 70, "frame_length": 320, "max_sound_tokens": 500}),
        ("llama-4", {"size": {"height": 336, "width": 336}, "max_patches": 8, "resize_to_max_canvas": True}, {"tile_size": 336, "max_tiles": 8, "resize_to_max_canvas": True}),
        ("llama-3.2-vision", {"size": {"height": 560, "width": 560}, "max_image_tiles": 4, "vision_config": {"patch_size": 14}}, {"tile_size": 560, "max_tiles": 4, "patch_size": 14}),
        ("phi-4-multimodal", {"size": {"height": 448, "width": 448}, "dynamic_hd": 12, "patch_size": 14}, {"crop_size": 448, "max_crops": 12, "patch_size": 14}),
        ("fuyu", {"size": {"height": 1080, "width": 1920}, "patch_size": {"height": 30, "width": 30}}, {"max_height": 1080, "max_width": 1920, "patch_size": 30}),
        ("phi-3.5-vision", {"num_crops": 16}, {"max_crops": 16}),
        ("idefics3", {"size": {"longest_edge": 728}, "max_image_size": {"longest_edge": 364}, "image_seq_len": 169, "do_image_splitting": False, "vision_config": {"patch_size": 14}}, {"longest_edge": 728, "tile_size": 364, "tokens_per_tile": 169, "splitting": False, "patch_size": 14}),
        ("kimi-vl", {"in_token_limit": 1024, "patch_size": 14, "merge_kernel_size": [2, 2]}, {"max_patches": 1024, "patch_size": 14, "merge_size": 2}),
        ("kimi-vl", {"merge_kernel_size": 2}, {"merge_size": 2}),
        ("kimi-k2.5", {"media_proc_cfg": {"in_patch_limit": 4096, "patch_limit_on_one_side": 256, "merge_kernel_size": 2}}, {"max_patches": 4096, "max_side_patches": 256, "merge_size": 2}),
        ("generic", {"size": 3}, {}),
    ],
)  # fmt: skip
def test_settings_come_from_the_served_models_preprocessor(family, configuration, settings):
    assert FAMILIES[family].settings_of(configuration) == settings
    build(family, settings)
