"""The fleet as it is believed to be, for `/forebay/endpoints`. Pure. Unknown is null, and never zero."""

import math
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from forebay.domain.ability import Ability, Role
from forebay.domain.ability import names as ability_names
from forebay.domain.endpoint import Endpoint, EndpointView

FLAGS = ("usable", "draining", "serves")
COUNTS = (
    "in_flight",
    "max_in_flight",
    "encoder_budget_tokens",
    "running",
    "waiting",
    "foreign",
    "decoding",
    "kv_tokens",
    "kv_capacity_tokens",
)
SHARES = ("kv_usage", "ramp")
COSTS = (
    "encode_us_per_patch",
    "prefill_us_per_token",
    "decode_us_per_token",
    "backlog_us",
    "head_us",
    "gap_p95_us",
)


class EndpointRow(msgspec.Struct, frozen=True):
    """One endpoint: as declared, as last seen, and as believed now.

    `beliefs` is any object with the names of `domain.facts.Facts`, as plain numbers; None before the first.
    """

    pool: str
    endpoint: Endpoint
    view: EndpointView | None = None
    beliefs: Any = None


def rendered(rows: Iterable[EndpointRow], at: int) -> dict[str, Any]:
    """Return all rows as JSON-ready values. `at` is now, in the microseconds that `viewed_at` is in."""
    return {"at_us": at, "endpoints": [rendered_row(row, at) for row in rows]}


def fleet(rows: Iterable[EndpointRow], served: Mapping[str, Any], at: int) -> dict[str, Any]:
    """Return all rows, each with what its endpoint has `served` lately: the whole page."""
    page = rendered(rows, at)
    for row in page["endpoints"]:
        row["served"] = served.get(row["name"])
    return page


def rendered_row(row: EndpointRow, at: int) -> dict[str, Any]:
    """Return one row: identity, what was seen with its age, what is believed."""
    return {**_declared(row), "seen": _seen(row, at), "believed": _believed(row.beliefs)}


def belief(beliefs: Any, name: str) -> float | None:
    """Return a belief as a finite number, None when it is unknown, unbounded or not there."""
    value = getattr(beliefs, name, None)
    return float(value) if value is not None and math.isfinite(value) else None


def age_seconds(beliefs: Any, at: int) -> float | None:
    """Return how old the last scrape is, None if there was none."""
    seen_at = belief(beliefs, "viewed_at")
    return None if seen_at is None else max(0.0, (at - seen_at) / 1e6)


def without_secrets(url: str) -> str:
    """Return scheme, host, port and path only: user names, passwords and queries can be secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _declared(row: EndpointRow) -> dict[str, Any]:
    endpoint, view = row.endpoint, row.view
    return {
        "name": endpoint.name,
        "slot": endpoint.slot,
        "pool": row.pool,
        "url": without_secrets(endpoint.url),
        "engine": (view.engine if view is not None else "") or endpoint.engine or None,
        "device": endpoint.device or None,
        "zone": endpoint.zone or None,
        "roles": [role.name.lower() for role in Role if role in endpoint.role and role.name],
        "numa_node": endpoint.numa_node,
        "preprocess_numa_node": endpoint.preprocess_numa_node,
        "image_formats": None if endpoint.image_formats is None else ability_names(endpoint.image_formats),
    }


def _seen(row: EndpointRow, at: int) -> dict[str, Any] | None:
    view = row.view
    if view is None:
        return None
    return {
        "age_seconds": age_seconds(row.beliefs, at),
        "reachable": view.reachable,
        "draining": view.draining,
        "models": None if view.models is None else list(view.models),
        "abilities": None if view.abilities is None else ability_names(Ability(view.abilities)),
        "context_tokens": view.context_tokens,
        "max_running": view.max_running,
        "running": view.running,
        "waiting": view.waiting,
        "kv_usage": view.kv_usage,
        "kv_usage_mean": view.kv_usage_mean,
        "kv_capacity_tokens": view.kv_capacity_tokens,
        "gap_p95_us": view.gap_p95_us,
    }


def _believed(beliefs: Any) -> dict[str, Any] | None:
    if beliefs is None:
        return None
    found: dict[str, Any] = {name: _flag(belief(beliefs, name)) for name in FLAGS}
    found.update((name, _whole(belief(beliefs, name))) for name in COUNTS)
    found.update((name, belief(beliefs, name)) for name in (*SHARES, *COSTS))
    return found


def _flag(value: float | None) -> bool | None:
    return None if value is None else value > 0


def _whole(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value
