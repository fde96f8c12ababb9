"""Small valid values, each field open to change: `request(stream=True)`, `plan(endpoints=3)`."""

from typing import Any

from forebay.conductor.conductor import Conductor
from forebay.conductor.plan import Plan, PoolPlan
from forebay.domain.ability import Ability
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.request import Api, InferenceRequest, MediaItem, TextMeasure
from forebay.placement.catalogue import PROFILES
from forebay.placement.profile import Profile


def profile(name: str = "least-request", **settings: Any) -> Profile:
    """A profile of the catalogue, with its defaults overridden."""
    recipe = PROFILES[name]
    return recipe.build(recipe.settings(**settings))


def endpoint(slot: int = 0, **changes: Any) -> Endpoint:
    """An endpoint named after its slot."""
    return Endpoint(**{"slot": slot, "name": f"e{slot}", "url": f"http://10.0.0.{slot + 1}:8000", **changes})


def pool(endpoints: int | tuple[Endpoint, ...] = 2, **changes: Any) -> PoolPlan:
    """A pool for model `m`, of so many endpoints or of these."""
    listed = tuple(endpoint(slot) for slot in range(endpoints)) if isinstance(endpoints, int) else endpoints
    return PoolPlan(**{"model": "m", "aliases": (), "endpoints": listed, "profile": profile(), **changes})


def plan(*pools: PoolPlan, version: int = 1) -> Plan:
    """A plan of these pools, or of one of two endpoints."""
    return Plan(version, pools or (pool(),))


def conductor(*pools: PoolPlan, seed: int = 0) -> Conductor:
    """A conductor for these pools, started at 0."""
    return Conductor(plan(*pools), seed=seed)


def request(request_id: str = "r", **changes: Any) -> InferenceRequest:
    """A short text chat for model `m`."""
    fields: dict[str, Any] = {
        "request_id": request_id,
        "api": Api.CHAT,
        "model": "m",
        "needs": Ability.TEXT | Ability.CHAT,
        "text": TextMeasure(ascii_bytes=40, messages=1),
        "stream": True,
    }
    return InferenceRequest(**{**fields, **changes})


def picture(tokens: int = 400, **changes: Any) -> MediaItem:
    """A picture of so many tokens."""
    fields: dict[str, Any] = {
        "modality": Ability.IMAGE,
        "message_index": 0,
        "part_index": 0,
        "mime": "image/png",
        "width": 560,
        "height": 560,
        "tokens": tokens,
        "encoder_patches": 4 * tokens,
        "content_hash": 7,
        "exact": True,
    }
    return MediaItem(**{**fields, **changes})


def view(slot: int = 0, **changes: Any) -> EndpointView:
    """A view of a healthy, idle endpoint that serves `m`."""
    fields: dict[str, Any] = {
        "reachable": True,
        "models": ("m",),
        "running": 0.0,
        "waiting": 0.0,
        "kv_usage": 0.0,
    }
    return EndpointView(slot, **{**fields, **changes})
