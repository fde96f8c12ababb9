"""llama.cpp's metric names. It exports neither KV usage nor a histogram, so that both stay unknown."""

from forebay.fleet.dialects.base import Dialect

DIALECT = Dialect(
    engine="llama.cpp",
    running=("llamacpp:requests_processing",),
    waiting=("llamacpp:requests_deferred",),
    # Exported by releases until 2025, and by no later one.
    kv_usage=("llamacpp:kv_cache_usage_ratio",),
    hint="start llama-server with --metrics",
    expected=("running", "waiting"),
)
