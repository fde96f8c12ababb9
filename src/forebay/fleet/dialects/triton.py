"""Triton Inference Server's metric names: its own, and those of the backends that run language models in it.

A backend's names stand first: they know running from waiting, and how full the KV cache is. Triton's own tell only how many
requests wait for a model, so that without such a backend `running` stays unknown.
"""

from forebay.fleet.dialects import vllm
from forebay.fleet.dialects.base import Capacity, Dialect

_REQUESTS = "nv_trt_llm_request_metrics{request_type=%s}"
_BLOCKS = "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=%s}"

DIALECT = Dialect(
    engine="triton",
    running=(_REQUESTS % "scheduled", *vllm.DIALECT.running),
    waiting=(_REQUESTS % "waiting", *vllm.DIALECT.waiting, "nv_inference_pending_request_count"),
    kv_usage=(_BLOCKS % "fraction", *vllm.DIALECT.kv_usage),
    capacity=(Capacity(factors=(_BLOCKS % "tokens_per", _BLOCKS % "max")),),
    gaps=vllm.DIALECT.gaps,
    # Each model of a server has its own queue.
    parts=("model", "version"),
    hint="its metrics stand on port 8002 unless OpenAI's frontend serves them too: set `metrics_port`",
)
