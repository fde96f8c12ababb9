"""SGLang: the common questions, its own metrics, and its limits from /server_info.

Old versions serve no /v1/messages; the OpenAPI description tells.
"""

from typing import Any

import msgspec

from forebay.domain.ability import ANY_FORMAT, Ability
from forebay.fleet.adapters.base import ANY_MEDIA, Identity, at, whole
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.caller import Caller
from forebay.fleet.dialects import sglang

_DEFAULT = ANY_MEDIA | ANY_FORMAT | Ability.CHAT | Ability.COMPLETIONS | Ability.EMBEDDINGS

INFO_PATHS = ("/server_info", "/get_server_info")
"""Newest first. The answer repeats the whole command line, keys included: only limits are read from it."""


class SGLangAdapter(OpenAIAdapter):
    """Asks /server_info too."""

    async def identify(self, call: Caller) -> Identity:
        """List the models. Versions that name no length there name it among their settings, if it was set."""
        found = await super().identify(call)
        info = await _server_info(call)
        return msgspec.structs.replace(
            found,
            context_tokens=found.context_tokens or whole(at(info, "context_length")),
            max_running=_max_running(info),
        )


async def _server_info(call: Caller) -> Any:
    for path in INFO_PATHS:
        reply = await call(path)
        if reply is None or reply.offered:
            return reply.json() if reply is not None else None
    return None


def _max_running(info: Any) -> int | None:
    # The memory left for the cache may allow less than was asked for; what was worked out is told per rank.
    ranks = at(info, "internal_states")
    limits = [
        limit
        for rank in (ranks if isinstance(ranks, list) else ())
        if (limit := whole(at(rank, "effective_max_running_requests_per_dp")))
    ]
    return sum(limits) or whole(at(info, "max_running_requests"))


ADAPTER = SGLangAdapter(sglang.DIALECT, _DEFAULT)
