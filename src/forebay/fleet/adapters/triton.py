"""Triton Inference Server, through its OpenAI frontend.

The frontend serves /v1, /metrics and /health/ready on one port. A Triton without it speaks KServe's v2 protocol only: its
health, its models and its load are read all the same, and no request is sent there.
"""

from typing import Any

from forebay.domain.ability import Ability
from forebay.fleet.adapters.base import Identity
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.caller import Caller, Reply
from forebay.fleet.dialects import triton

NO_API = "speaks KServe's protocol only, so that it is sent no request: start Triton's OpenAI frontend, and name its port"


class TritonAdapter(OpenAIAdapter):
    """Asks /v2/repository/index where there is no /v1/models."""

    async def identify(self, call: Caller) -> Identity:
        """List the models."""
        found = await super().identify(call)
        if found.models is not None or found.refused:
            return found
        index = await call("/v2/repository/index", b'{"ready": true}')
        if index is None or not index.offered:
            return found
        return Identity(models=_ready(index), abilities=Ability(0), advice=NO_API)


def _ready(index: Reply) -> tuple[str, ...] | None:
    listed: Any = index.json()
    if not isinstance(listed, list):
        return None
    rows = [row for row in listed if isinstance(row, dict) and row.get("state", "READY") == "READY"]
    return tuple(dict.fromkeys(row["name"] for row in rows if isinstance(row.get("name"), str)))


ADAPTER = TritonAdapter(triton.DIALECT, health_paths=("/health/ready", "/v2/health/ready"))
