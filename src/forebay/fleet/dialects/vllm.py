"""vLLM's metric names, V0 and V1."""

from forebay.fleet.dialects.base import Capacity, Dialect

DIALECT = Dialect(
    engine="vllm",
    running=("vllm:num_requests_running",),
    waiting=("vllm:num_requests_waiting",),
    kv_usage=("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    capacity=(
        # Blocks times their size is more than the cache holds where a model mixes kinds of attention.
        Capacity(info="vllm:cache_config_info", factors=("kv_cache_size_tokens",)),
        Capacity(info="vllm:cache_config_info", factors=("block_size", "num_gpu_blocks")),
    ),
    gaps=("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    lora="vllm:lora_requests_info",
    awake=("vllm:engine_sleep_state", "awake"),
    hint="start vLLM without --disable-log-stats",
    expected=("running", "waiting", "kv_usage"),
)
