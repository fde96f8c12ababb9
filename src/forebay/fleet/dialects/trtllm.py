"""The metric names of trtllm-serve, TensorRT-LLM's own server. On /metrics it keeps statistics of its iterations, as JSON."""

from forebay.fleet.dialects.base import Capacity, Dialect

DIALECT = Dialect(
    engine="trtllm",
    running=("trtllm_num_requests_running",),
    waiting=("trtllm_num_requests_waiting",),
    kv_usage=("trtllm_kv_cache_utilization",),
    capacity=(Capacity(factors=("trtllm_kv_cache_tokens_per_block", "trtllm_kv_cache_max_blocks")),),
    path="/prometheus/metrics",
    hint="give trtllm-serve `return_perf_metrics: true` and `enable_iter_perf_stats: true`",
)
