"""llama.cpp's server.

It answers 501 where a path exists but the model cannot serve it, so that an empty question per API tells which it offers.
Its image decoder knows JPEG, PNG, BMP and GIF only, and fails on the rest: none of the further formats is claimed.
"""

from dataclasses import dataclass
from typing import Any

from forebay.domain.ability import Ability
from forebay.domain.endpoint import API_BASE
from forebay.fleet.adapters.base import APIS, STB_FORMATS, Identity, at, entries, health, ids, refused, whole
from forebay.fleet.caller import Caller
from forebay.fleet.dialects import llamacpp
from forebay.fleet.dialects.base import Dialect

_MODALITIES = {"vision": Ability.IMAGE, "audio": Ability.AUDIO, "video": Ability.VIDEO}
_INPUTS = {"image": Ability.IMAGE, "audio": Ability.AUDIO, "video": Ability.VIDEO}


@dataclass(frozen=True)
class LlamaCppAdapter:
    """Asks /health, /v1/models and /props."""

    dialect: Dialect = llamacpp.DIALECT
    api_base: str = API_BASE

    async def healthy(self, call: Caller) -> bool:
        """See `health`: /health is 503 while the model loads."""
        return await health(call)

    async def identify(self, call: Caller) -> Identity:
        """List the models. A sequence must fit in one slot, whose length /props and /v1/models name."""
        reply = await call("/v1/models")
        listed = entries(reply)
        first = listed[0] if listed else {}
        asked = await call("/props")
        props = asked.json() if asked is not None else None
        slot = whole(at(props, "default_generation_settings", "n_ctx"))
        return Identity(
            models=ids(listed),
            context_tokens=slot or whole(at(first, "meta", "n_ctx")),
            max_running=whole(at(props, "total_slots")),
            abilities=await _abilities(call, props, first),
            refused=refused(reply),
        )


async def _abilities(call: Caller, props: Any, model: dict[str, Any]) -> Ability | None:
    media = modalities(props, model)
    if media is None:
        return None
    media |= STB_FORMATS
    for path, api in APIS.items():
        if api & media:  # by another of its paths
            continue
        reply = await call(path, b"{}")
        if reply is not None and reply.offered:
            media |= api
    return media


def modalities(props: Any, model: dict[str, Any]) -> Ability | None:
    """Return the modalities named by /props, or else by the model's entry in /v1/models; None when neither does."""
    flags = at(props, "modalities")
    if isinstance(flags, dict):
        return _named(_MODALITIES, [name for name, has in flags.items() if has is True])
    inputs = at(model, "architecture", "input_modalities")
    return _named(_INPUTS, inputs) if isinstance(inputs, list) else None


def _named(known: dict[str, Ability], names: list[Any]) -> Ability:
    flags = Ability.TEXT
    for name in names:
        flags |= known.get(name, Ability(0)) if isinstance(name, str) else Ability(0)
    return flags


ADAPTER = LlamaCppAdapter()
