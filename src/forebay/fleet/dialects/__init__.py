"""What each engine calls its metrics: one table a file, newest name first.

A dialect is data. `base` reads any of them; `BY_ENGINE` finds one by the engine's name.
"""

from forebay.fleet.dialects import generic, llamacpp, openvino, sglang, tgi, triton, trtllm, vllm
from forebay.fleet.dialects.base import Dialect

_ALL = (vllm, llamacpp, sglang, triton, trtllm, openvino, tgi, generic)

BY_ENGINE: dict[str, Dialect] = {module.DIALECT.engine: module.DIALECT for module in _ALL}
"""Every dialect by the engine name that a plan may use."""


def dialect_of(engine: str) -> Dialect:
    """Return the dialect of that engine, or the generic one, which knows every name, for any other."""
    return BY_ENGINE.get(engine, generic.DIALECT)
