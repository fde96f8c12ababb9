"""What each engine calls its metrics: one table a file, newest name first.

A dialect is data. `base` reads any of them; `BY_ENGINE` finds one by the engine's name.
"""

from forebay.fleet.dialects import generic, llamacpp, sglang, vllm
from forebay.fleet.dialects.base import Dialect

BY_ENGINE: dict[str, Dialect] = {
    dialect.engine: dialect for dialect in (vllm.DIALECT, llamacpp.DIALECT, sglang.DIALECT, generic.DIALECT)
}
"""Every dialect by the engine name that a plan may use."""


def dialect_of(engine: str) -> Dialect:
    """Return the dialect of that engine, or the generic one, which knows every name, for any other."""
    return BY_ENGINE.get(engine, generic.DIALECT)
