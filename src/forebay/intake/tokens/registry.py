"""Families by name, and the family that a served model's name gives away."""

import difflib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from forebay.intake.tokens.family import Family, Rules
from forebay.intake.tokens.fuyu import Fuyu
from forebay.intake.tokens.gemma3 import Gemma3
from forebay.intake.tokens.gemma3n import Gemma3n
from forebay.intake.tokens.gemma4 import Gemma4, Gemma4E
from forebay.intake.tokens.generic import Generic
from forebay.intake.tokens.granite_speech import GraniteSpeech
from forebay.intake.tokens.idefics3 import Idefics3, SmolVLM, SmolVLM500M
from forebay.intake.tokens.internvl import InternVL
from forebay.intake.tokens.kimi import KimiK25, KimiVL, KimiVL2506
from forebay.intake.tokens.llama4 import Llama4
from forebay.intake.tokens.llama32_vision import Llama32Vision
from forebay.intake.tokens.llava import Llava15
from forebay.intake.tokens.llava_next import LlavaNext
from forebay.intake.tokens.llava_onevision import LlavaOneVision
from forebay.intake.tokens.openai_patches import O4Mini, OpenAIPatches, OpenAIPatchesNano
from forebay.intake.tokens.openai_tiles import GPT5, ComputerUse, GPT4oMini, OpenAIReasoning, OpenAITiles
from forebay.intake.tokens.phi3_vision import Phi3Vision, Phi35Vision
from forebay.intake.tokens.phi4_multimodal import Phi4Multimodal
from forebay.intake.tokens.pixtral import Mistral3, Pixtral
from forebay.intake.tokens.qwen2_audio import Qwen2Audio
from forebay.intake.tokens.qwen2_vl import Qwen2VL
from forebay.intake.tokens.qwen3_vl import Qwen3VL
from forebay.intake.tokens.qwen_omni import Qwen3Omni, Qwen25Omni
from forebay.intake.tokens.ultravox import Ultravox
from forebay.intake.tokens.voxtral import Voxtral
from forebay.intake.tokens.whisper import Whisper

FAMILIES: Mapping[str, type[Rules]] = {
    "qwen2-vl": Qwen2VL,
    "qwen2.5-vl": Qwen2VL,  # same preprocessor, another vision tower
    "qwen3-vl": Qwen3VL,
    "llava-1.5": Llava15,
    "llava-next": LlavaNext,
    "llava-1.6": LlavaNext,
    "llava-onevision": LlavaOneVision,
    "internvl": InternVL,
    "gemma-3": Gemma3,
    "gemma-3n": Gemma3n,
    "gemma-4": Gemma4,
    "gemma-4-e4b": Gemma4E,
    "pixtral": Pixtral,
    "mistral-3": Mistral3,
    "llama-4": Llama4,
    "llama-3.2-vision": Llama32Vision,
    "phi-4-multimodal": Phi4Multimodal,
    "phi-3-vision": Phi3Vision,
    "phi-3.5-vision": Phi35Vision,
    "fuyu": Fuyu,
    "idefics3": Idefics3,
    "smolvlm": SmolVLM,
    "smolvlm-500m": SmolVLM500M,
    "kimi-vl": KimiVL,
    "kimi-vl-2506": KimiVL2506,
    "kimi-k2.5": KimiK25,
    "gpt-4o": OpenAITiles,
    "gpt-4.1": OpenAITiles,
    "gpt-4.5": OpenAITiles,
    "gpt-4o-mini": GPT4oMini,
    "o1": OpenAIReasoning,
    "o3": OpenAIReasoning,
    "gpt-5": GPT5,
    "computer-use-preview": ComputerUse,
    "gpt-4.1-mini": OpenAIPatches,
    "gpt-5-mini": OpenAIPatches,
    "gpt-4.1-nano": OpenAIPatchesNano,
    "gpt-5-nano": OpenAIPatchesNano,
    "o4-mini": O4Mini,
    "whisper": Whisper,
    "qwen2-audio": Qwen2Audio,
    "qwen2.5-omni": Qwen25Omni,
    "qwen3-omni": Qwen3Omni,
    "ultravox": Ultravox,
    "voxtral": Voxtral,
    "granite-speech": GraniteSpeech,
    "generic": Generic,
}


def _hosted(name: str) -> str:
    """Pattern of a hosted model's whole name, with its providers before it and its date behind."""
    return rf"^(?:.*openai|azure)?(?:{name})(?:latest|preview|20\d{{6}})*$"


# Sought in the name without its punctuation, first match wins. Checkpoints, architectures and model types all fit:
# Qwen/Qwen2.5-VL-7B-Instruct, Qwen2_5_VLForConditionalGeneration, qwen2_5_vl.
_NAMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"ultravox", "ultravox"),  # first, since its names hold those of its text models
        (r"qwen3omni", "qwen3-omni"),
        (r"qwen25omni", "qwen2.5-omni"),
        (r"voxtral.*(?:realtime|tts)", ""),
        (r"voxtral", "voxtral"),
        (r"granitespeech5", ""),
        (r"granite.*speech", "granite-speech"),
        (r"qwen3vl", "qwen3-vl"),
        (r"qwen25vl", "qwen2.5-vl"),
        (r"qwen2vl|tinyvlm", "qwen2-vl"),
        (r"qwen2audio", "qwen2-audio"),
        (r"internvl", "internvl"),
        # Other families, whose names contain the next ones.
        (r"llava(?:onevision|ov)15", ""),
        (r"llava(?:onevision|ov)", "llava-onevision"),
        (r"llava(?:next)?(?:interleave|video)|vipllava|videollava", ""),
        (r"llavanext|llavav?16", "llava-next"),
        (r"llava", "llava-1.5"),
        (r"gemma31b|gemma3270m", ""),  # text only
        (r"gemma3n", "gemma-3n"),
        (r"gemma3", "gemma-3"),
        (r"gemma4e[24]b", "gemma-4-e4b"),
        (r"gemma4(?!bit)", "gemma-4"),
        (r"pixtral", "pixtral"),
        (r"mistral3(?!b)|mistralsmall3[1-9]|ministral3(?:3|8|14)b", "mistral-3"),
        (r"llama4(?!05b|k|bit)", "llama-4"),
        (r"llama32(?:11b|90b)?vision|^mllama", "llama-3.2-vision"),
        (r"phi4(?:multimodal|mm)", "phi-4-multimodal"),
        (r"phi35v", "phi-3.5-vision"),
        (r"phi3v", "phi-3-vision"),
        (r"fuyu", "fuyu"),
        (r"smolvlm2?(?:256m|500m)|smoldocling|granitedocling", "smolvlm-500m"),
        (r"smolvlm", "smolvlm"),
        (r"idefics3", "idefics3"),
        (r"kimivl.*2506", "kimi-vl-2506"),
        (r"kimivl", "kimi-vl"),
        (r"kimik25", "kimi-k2.5"),
        # OpenAI's own, whole: many an open model has one of these names in its own.
        (_hosted(r"gpt4omini"), "gpt-4o-mini"),
        (_hosted(r"(?:chat)?gpt4o|gpt4turbo|gpt4vision|gpt45"), "gpt-4o"),
        (_hosted(r"gpt41"), "gpt-4.1"),
        (_hosted(r"gpt41mini"), "gpt-4.1-mini"),
        (_hosted(r"gpt41nano"), "gpt-4.1-nano"),
        (_hosted(r"gpt5(?:chat)?"), "gpt-5"),
        (_hosted(r"gpt5mini"), "gpt-5-mini"),
        (_hosted(r"gpt5nano"), "gpt-5-nano"),
        (_hosted(r"o1(?:pro)?|o3"), "o3"),
        (_hosted(r"o4mini"), "o4-mini"),
        (_hosted(r"computeruse"), "computer-use-preview"),
        (r"whisper", "whisper"),
    )
)


class UnknownFamilyError(ValueError):
    """No family of that name. The message suggests the closest one."""


class FamilySettingsError(ValueError):
    """A family exists, but not with these parameters. The message names the parameter."""


def build(
    name: str,
    settings: Mapping[str, Any] | None = None,
    engine: str = "",
    served: Mapping[str, Any] | None = None,
) -> Family:
    """The family of that name, with its defaults overridden by `served`, by what `engine` does, and by `settings`.

    `served` is what the model's own files state. `engine` is the engine of the pool (`vllm`, `llama.cpp` ...), empty when
    unknown: engines differ in rounding, padding and sampling. Each of `settings` replaces the whole parameter; what an
    engine departs in goes into what the files say of it.
    Raises UnknownFamilyError, FamilySettingsError.
    """
    family = FAMILIES.get(name)
    if family is None:
        near = difflib.get_close_matches(name, FAMILIES, n=1)
        hint = f": did you mean `{near[0]}`?" if near else f"; known are {', '.join(FAMILIES)}"
        raise UnknownFamilyError(f"unknown family `{name}`{hint}")
    try:
        usual = _merged(served or {}, family.engine_settings.get(engine, {}))
        return msgspec.convert({**usual, **(settings or {})}, family)
    except msgspec.ValidationError as fault:
        raise FamilySettingsError(f"family `{name}`: {fault}") from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**under, **over}
    for key in under.keys() & over.keys():
        if isinstance(under[key], Mapping) and isinstance(over[key], Mapping):
            merged[key] = {**under[key], **over[key]}
    return merged


def detect_family(model_name: str) -> str | None:
    """Name of the family that a model's name points to, or None."""
    squashed = re.sub(r"[^a-z0-9]", "", model_name.lower())
    for pattern, family in _NAMES:
        if pattern.search(squashed):
            return family or None
    return None
