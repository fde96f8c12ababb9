"""Which engine answers at an address whose engine was not declared."""

from forebay.fleet.adapters.base import entries
from forebay.fleet.caller import Caller, Reply

OWNERS = {"vllm": "vllm", "llamacpp": "llama.cpp", "sglang": "sglang"}
"""What engines write as `owned_by` of their models."""

PREFIXES = {b"vllm:": "vllm", b"llamacpp:": "llama.cpp", b"sglang:": "sglang"}
"""How the names of their metrics begin."""


async def detect(call: Caller) -> str | None:
    """Return `vllm`, `llama.cpp`, `sglang` or `generic`; None when nothing answered, so that it is asked again later.

    The Server header is llama.cpp's alone. Metrics are stronger evidence than `owned_by`, which a proxy may pass on; the
    model list serves engines that keep their metrics elsewhere, or off.
    """
    models = await call("/v1/models")
    if models is not None and models.server.startswith("llama.cpp"):
        return "llama.cpp"
    metrics = await call("/metrics")
    if models is None and metrics is None:
        return None
    return _by_metrics(metrics) or _by_owner(models) or "generic"


def _by_metrics(reply: Reply | None) -> str | None:
    if reply is None or not reply.good:
        return None
    text = b"\n" + reply.body
    return next((engine for prefix, engine in PREFIXES.items() if b"\n" + prefix in text), None)


def _by_owner(reply: Reply | None) -> str | None:
    owners = [entry.get("owned_by") for entry in entries(reply) or ()]
    return next((OWNERS[owner] for owner in owners if isinstance(owner, str) and owner in OWNERS), None)
