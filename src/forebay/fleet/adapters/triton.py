"""Triton Inference Server, through its OpenAI frontend.

The frontend serves /v1, /metrics and /health/ready on one port. A Triton without it speaks KServe's v2 protocol only: its
health, its models and its load are read all the same, and no request is sent there.
"""

from typing import Any

from forebay.domain.ability import Ability
from forebay.fleet.adapters.base import Identity, at
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.caller import Caller, Reply
from forebay.fleet.dialects import triton

NO_API = "speaks KServe's protocol only, so that it is sent no request: start Triton's OpenAI frontend, and name its port"


class TritonAdapter(OpenAIAdapter):
    """Asks /v2/models/stats where there is no /v1/models."""

    async def identify(self, call: Caller) -> Identity:
        """List the models."""
        found = await super().identify(call)
        if found.models is not None or found.refused:
            return found
        # What is loaded. The repository's index names what could be, and nothing that was loaded over the network.
        loaded = await call("/v2/models/stats")
        if loaded is None or not loaded.offered:
            return found
        return Identity(models=_names(loaded), abilities=Ability(0), advice=NO_API)


def _names(loaded: Reply) -> tuple[str, ...] | None:
    listed: Any = at(loaded.json(), "model_stats")
    if not isinstance(listed, list):
        return None
    names = [at(row, "name") for row in listed]
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


ADAPTER = TritonAdapter(triton.DIALECT, health_paths=("/health/ready", "/v2/health/ready"))
