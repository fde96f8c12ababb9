"""Any engine that speaks OpenAI's API.

Its abilities are read from its own OpenAPI description if it has one. Which modalities the model takes is written nowhere,
so that all are let through: the engine's own 400 says it better than a guess of ours.
"""

from dataclasses import dataclass

from forebay.domain.ability import ANY_FORMAT, Ability
from forebay.domain.endpoint import API_BASE
from forebay.fleet.adapters.base import (
    ANY_MEDIA,
    APIS,
    Identity,
    adapters,
    at,
    entries,
    health,
    ids,
    refused,
    whole,
)
from forebay.fleet.caller import Caller
from forebay.fleet.dialects import generic
from forebay.fleet.dialects.base import Dialect


@dataclass(frozen=True)
class OpenAIAdapter:
    """Asks `health_paths`, /v1/models and /openapi.json. `default` are the abilities when the last is not there."""

    dialect: Dialect
    default: Ability | None = None
    health_paths: tuple[str, ...] = ("/health",)
    api_base: str = API_BASE

    async def healthy(self, call: Caller) -> bool:
        """See `health`."""
        return await health(call, self.health_paths)

    async def identify(self, call: Caller) -> Identity:
        """List the models. The context length is vLLM's and SGLang's `max_model_len`, where there is one."""
        reply = await call("/v1/models")
        listed = entries(reply)
        lengths = [length for entry in listed or () if (length := whole(entry.get("max_model_len")))]
        return Identity(
            models=ids(listed),
            adapters=adapters(listed),
            context_tokens=max(lengths, default=None),
            abilities=await self._abilities(call),
            refused=refused(reply),
        )

    async def _abilities(self, call: Caller) -> Ability | None:
        reply = await call("/openapi.json")
        paths = at(reply.json(), "paths") if reply is not None else None
        offered = [api for path, api in APIS.items() if isinstance(paths, dict) and path in paths]
        if not offered:
            return self.default
        apis = Ability(0)
        for api in offered:
            apis |= api
        return ANY_MEDIA | ANY_FORMAT | apis


ADAPTER = OpenAIAdapter(generic.DIALECT)

UNDECLARED = OpenAIAdapter(generic.DIALECT, health_paths=("/health", "/health/ready", "/v2/health/ready"))
"""Until it is found out: any engine's sign of life is one."""
