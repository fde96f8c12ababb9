"""How each engine is asked for its health, its models and its limits: one small file each."""

from forebay.fleet.adapters import generic, llamacpp, sglang, vllm
from forebay.fleet.adapters.base import Adapter

BY_ENGINE: dict[str, Adapter] = {
    "vllm": vllm.ADAPTER,
    "llama.cpp": llamacpp.ADAPTER,
    "sglang": sglang.ADAPTER,
    "generic": generic.ADAPTER,
}
"""Every adapter by the engine name that a plan may use."""


def adapter_of(engine: str) -> Adapter:
    """Return the adapter of that engine, or the generic one for any other."""
    return BY_ENGINE.get(engine, generic.ADAPTER)
