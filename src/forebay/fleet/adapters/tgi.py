"""Text Generation Inference: limits and the model from /info. Its OpenAPI description stands elsewhere than others'.

It has one model and answers to any name; it decodes pictures with Rust's `image`.
"""

import msgspec

from forebay.domain.ability import Ability
from forebay.fleet.adapters.base import STB_FORMATS, Identity, at, whole
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.caller import Caller
from forebay.fleet.dialects import tgi

_DEFAULT = (
    Ability.TEXT
    | Ability.IMAGE
    | STB_FORMATS
    | Ability.WEBP
    | Ability.TIFF
    | Ability.CHAT
    | Ability.COMPLETIONS
)


class TGIAdapter(OpenAIAdapter):
    """Asks /info too."""

    async def identify(self, call: Caller) -> Identity:
        """Name the model: versions before 2.2 serve no /v1/models."""
        found = await super().identify(call)
        reply = await call("/info")
        info = reply.json() if reply is not None else None
        model = at(info, "model_id")
        return msgspec.structs.replace(
            found,
            models=found.models or ((model,) if isinstance(model, str) else None),
            context_tokens=whole(at(info, "max_total_tokens")),
            max_running=whole(at(info, "max_batch_size")),
        )


ADAPTER = TGIAdapter(tgi.DIALECT, _DEFAULT)
