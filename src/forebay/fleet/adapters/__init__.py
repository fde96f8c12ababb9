"""How each engine is asked for its health, its models and its limits: one small file each."""

from forebay.fleet.adapters import generic, llamacpp, openvino, sglang, tgi, triton, trtllm, vllm
from forebay.fleet.adapters.base import Adapter

_ALL: tuple[Adapter, ...] = (
    vllm.ADAPTER,
    llamacpp.ADAPTER,
    sglang.ADAPTER,
    triton.ADAPTER,
    trtllm.ADAPTER,
    openvino.ADAPTER,
    tgi.ADAPTER,
    generic.ADAPTER,
)

BY_ENGINE: dict[str, Adapter] = {adapter.dialect.engine: adapter for adapter in _ALL}
"""Every adapter by the engine name that a plan may use."""


def adapter_of(engine: str) -> Adapter:
    """Return the adapter of that engine, or the generic one for any other; for none, the one that finds it alive."""
    return BY_ENGINE.get(engine, generic.ADAPTER if engine else generic.UNDECLARED)
