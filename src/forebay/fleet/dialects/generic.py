"""For an engine that nobody named: every name that the model-server protocol of the Gateway API lists.

An engine speaks one dialect, so that the names of the others are simply absent.
"""

from forebay.fleet.dialects import llamacpp, sglang, trtllm, vllm
from forebay.fleet.dialects.base import Dialect

_OTHERS = (vllm.DIALECT, sglang.DIALECT, llamacpp.DIALECT, trtllm.DIALECT)

DIALECT = Dialect(
    engine="generic",
    running=tuple(name for other in _OTHERS for name in other.running),
    waiting=tuple(name for other in _OTHERS for name in other.waiting),
    kv_usage=tuple(name for other in _OTHERS for name in other.kv_usage),
    capacity=tuple(size for other in _OTHERS for size in other.capacity),
    gaps=tuple(name for other in _OTHERS for name in other.gaps),
    lora=vllm.DIALECT.lora,
    awake=vllm.DIALECT.awake,
)
