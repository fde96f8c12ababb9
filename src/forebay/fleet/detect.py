"""Which engine answers at an address whose engine was not declared."""

from forebay.fleet.adapters.base import at, entries
from forebay.fleet.caller import Caller, Reply

OWNERS = {
    "vllm": "vllm",
    "llamacpp": "llama.cpp",
    "sglang": "sglang",
    "Triton Inference Server": "triton",
    "tensorrt_llm": "trtllm",
    "OVMS": "openvino",
}
"""What engines write as `owned_by` of their models."""

PREFIXES = {
    b"nv_inference_": "triton",  # before vLLM, whose names Triton exports too when vLLM runs in it
    b"vllm:": "vllm",
    b"llamacpp:": "llama.cpp",
    b"sglang:": "sglang",
    b"ovms_": "openvino",
    b"tgi_": "tgi",
}
"""How the names of their metrics begin."""

SELF_NAMED = (
    ("/v2", "name", {"triton": "triton", "OpenVINO Model Server": "openvino"}),
    ("/info", "router", {"text-generation-router": "tgi"}),
)
"""Where an engine tells its name: a path, a key of the answer, and what stands there."""


async def detect(call: Caller, scrape: Caller | None = None) -> str | None:
    """Return an engine's name, `generic` for a stranger; None when nothing answered, so that it is asked again later.

    The Server header is llama.cpp's alone. Metrics are stronger evidence than `owned_by`, which a proxy may pass on; the
    model list serves engines that keep their metrics elsewhere, or off. `scrape` asks where metrics stand, if elsewhere.
    """
    models = await call("/v1/models")
    if models is not None and models.server.startswith("llama.cpp"):
        return "llama.cpp"
    metrics = await (scrape or call)("/metrics")
    if models is None and metrics is None:
        return None
    return _by_metrics(metrics) or _by_owner(models) or await _by_own_word(call) or "generic"


def _by_metrics(reply: Reply | None) -> str | None:
    if reply is None or not reply.good:
        return None
    text = b"\n" + reply.body
    return next((engine for prefix, engine in PREFIXES.items() if b"\n" + prefix in text), None)


def _by_owner(reply: Reply | None) -> str | None:
    owners = [entry.get("owned_by") for entry in entries(reply) or ()]
    return next((OWNERS[owner] for owner in owners if isinstance(owner, str) and owner in OWNERS), None)


async def _by_own_word(call: Caller) -> str | None:
    for path, key, engines in SELF_NAMED:
        reply = await call(path)
        word = at(reply.json(), key) if reply is not None else None
        if isinstance(word, str) and word in engines:
            return engines[word]
    return None
