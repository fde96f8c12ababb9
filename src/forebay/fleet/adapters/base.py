"""What an adapter is, and the questions that most engines answer alike."""

from typing import Any, Protocol

import msgspec

from forebay.domain.ability import Ability
from forebay.fleet.caller import Caller, Reply
from forebay.fleet.dialects.base import Dialect
from forebay.intake.forms import ABILITIES

ANY_MEDIA = Ability.TEXT | Ability.IMAGE | Ability.AUDIO | Ability.VIDEO
# What the decoder stb_image reads, on which small engines stand.
STB_FORMATS = Ability.JPEG | Ability.PNG | Ability.GIF | Ability.BMP
APIS = ABILITIES


class Identity(msgspec.Struct, frozen=True, gc=False):
    """What an endpoint serves. None is unknown. `adapters` are the LoRA adapters among `models`.

    `max_running` is how many requests it runs at once. `refused` tells that it wants another key than ours; `advice` is a
    sentence for the operator when it is not set up to take requests.
    """

    models: tuple[str, ...] | None = None
    adapters: tuple[str, ...] | None = None
    context_tokens: int | None = None
    max_running: int | None = None
    abilities: Ability | None = None
    refused: bool = False
    advice: str = ""


class Adapter(Protocol):
    """One engine's ways. `healthy` and `identify` may be called at any time, one at a time per endpoint."""

    @property
    def dialect(self) -> Dialect:
        """What it calls its metrics."""
        ...

    @property
    def api_base(self) -> str:
        """Where its OpenAI API stands when nothing else is set up."""
        ...

    async def healthy(self, call: Caller) -> bool:
        """Whether it says that it can work now."""
        ...

    async def identify(self, call: Caller) -> Identity:
        """What it serves now."""
        ...


async def health(call: Caller, paths: tuple[str, ...] = ("/health",)) -> bool:
    """Ask the first of `paths` that is there, or /v1/models where none is.

    To that question a refused key or a rate limit is a sign of life. A 404 is not: whatever answers there speaks
    another API, and would turn every request away faster than any engine can serve it.
    """
    for path in paths:
        reply = await call(path)
        if reply is None or reply.offered:
            return reply is not None and reply.good
    reply = await call("/v1/models")
    return reply is not None and (reply.good or reply.status in {401, 403, 429})


def refused(reply: Reply | None) -> bool:
    """Whether the endpoint did not take our key, or the lack of one."""
    return reply is not None and reply.status in {401, 403}


def entries(reply: Reply | None) -> list[dict[str, Any]] | None:
    """Return the entries of a /v1/models answer, None when it is not one."""
    document = reply.json() if reply is not None else None
    listed = document.get("data") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        return None
    return [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


def ids(listed: list[dict[str, Any]] | None) -> tuple[str, ...] | None:
    """Return the names in a listing, aliases behind their model, each once."""
    if listed is None:
        return None
    names: dict[str, None] = {}
    for entry in listed:
        aliases = entry.get("aliases")
        also = aliases if isinstance(aliases, list) else []
        names.update(dict.fromkeys(name for name in (entry["id"], *also) if isinstance(name, str)))
    return tuple(names)


def adapters(listed: list[dict[str, Any]] | None) -> tuple[str, ...] | None:
    """Return the names of the adapters in a listing: entries that name another as their `parent`."""
    if listed is None:
        return None
    return tuple(dict.fromkeys(entry["id"] for entry in listed if isinstance(entry.get("parent"), str)))


def whole(value: Any) -> int | None:
    """Return a positive int as it is, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def at(document: Any, *keys: str) -> Any:
    """Return what nested objects hold under `keys`, None where one is missing or no object."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document
