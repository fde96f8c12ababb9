"""trtllm-serve, TensorRT-LLM's own server. Its OpenAPI description names its routes."""

from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.dialects import trtllm

ADAPTER = OpenAIAdapter(trtllm.DIALECT)
