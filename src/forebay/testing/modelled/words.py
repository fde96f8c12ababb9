"""What a modelled engine says, and how it is framed."""

from collections.abc import Mapping
from typing import Any

import msgspec

from forebay.domain.request import Api

WORDS = ("so", " it", " is", " modelled", ",", " not", " measured", ".")
CREATED = 1_700_000_000
DONE = b"data: [DONE]\n\n"
_LETTER = {Api.CHAT: "chatcmpl", Api.COMPLETIONS: "cmpl"}


def words(start: int, count: int) -> str:
    """The tokens `start` to `start + count` of every answer."""
    return "".join(WORDS[number % len(WORDS)] for number in range(start, start + count))


class Answer:
    """Frames one answer as its API has it."""

    def __init__(self, api: Api, number: int, model: str, usage: Mapping[str, int]) -> None:
        """`number` makes its id; `usage` is told at the end."""
        self._api = api
        self._usage = usage
        self._head: dict[str, Any] = {"id": f"{_LETTER[api]}-{number}", "created": CREATED, "model": model}

    def whole(self, text: str) -> bytes:
        """The body of an answer that is not streamed."""
        if self._api is Api.CHAT:
            choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        else:
            choice = {"text": text}
        kind = "chat.completion" if self._api is Api.CHAT else "text_completion"
        choices = [{"index": 0, **choice, "finish_reason": "stop"}]
        return msgspec.json.encode(self._head | {"object": kind, "choices": choices, "usage": self._usage})

    def opening(self) -> bytes:
        """The event before the first piece: a chat names its role."""
        return self._event({"role": "assistant", "content": ""}) if self._api is Api.CHAT else b""

    def piece(self, text: str, *, last: bool) -> bytes:
        """One piece of the text; the last one says why it ends."""
        return self._event({"content": text}, "stop" if last else None)

    def usage(self) -> bytes:
        """The event that tells the tokens."""
        return _framed(self._head | {"object": self._kind, "choices": [], "usage": self._usage})

    @property
    def _kind(self) -> str:
        return "chat.completion.chunk" if self._api is Api.CHAT else "text_completion"

    def _event(self, delta: dict[str, str], reason: str | None = None) -> bytes:
        said: dict[str, Any] = {"delta": delta} if self._api is Api.CHAT else {"text": delta["content"]}
        choice = {"index": 0, **said, "finish_reason": reason}
        return _framed(self._head | {"object": self._kind, "choices": [choice]})


def _framed(event: Mapping[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
