"""SGLang's metric names."""

from forebay.fleet.dialects.base import Capacity, Dialect

DIALECT = Dialect(
    engine="sglang",
    running=("sglang:num_running_reqs",),
    waiting=("sglang:num_queue_reqs",),
    kv_usage=("sglang:token_usage",),
    capacity=(
        Capacity(factors=("sglang:max_total_num_tokens",)),
        Capacity(info="sglang:cache_config_info", factors=("page_size", "num_pages")),
    ),
    gaps=("sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"),
    hint="start SGLang with --enable-metrics",
    expected=("running", "waiting", "kv_usage"),
)
