"""For an engine that nobody named: every name that the model-server protocol of the Gateway API lists.

An engine speaks one dialect, so that the names of the others are simply absent.
"""

from forebay.fleet.dialects import llamacpp, sglang, vllm
from forebay.fleet.dialects.base import Capacity, Dialect

_OTHERS = (vllm.DIALECT, sglang.DIALECT, llamacpp.DIALECT)

DIALECT = Dialect(
    engine="generic",
    running=(*(name for other in _OTHERS for name in other.running), "trtllm_num_requests_running"),
    waiting=(*(name for other in _OTHERS for name in other.waiting), "trtllm_num_requests_waiting"),
    kv_usage=(*(name for other in _OTHERS for name in other.kv_usage), "trtllm_kv_cache_utilization"),
    capacity=(
        *(size for other in _OTHERS for size in other.capacity),
        Capacity(factors=("trtllm_kv_cache_tokens_per_block", "trtllm_kv_cache_max_blocks")),
    ),
    gaps=tuple(name for other in _OTHERS for name in other.gaps),
    lora=vllm.DIALECT.lora,
    awake=vllm.DIALECT.awake,
)
