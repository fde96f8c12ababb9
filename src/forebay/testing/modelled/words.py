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

    def __init__(
        self, api: Api, number: int, model: str, tokens: tuple[int, int], *, usage_always: bool = False
    ) -> None:
        """`number` makes its id; `tokens` are the prompt's and the answer's. `usage_always`: in every event of a stream."""
        self._api = api
        self._prompt_tokens, self._output_tokens = tokens
        self._usage_always = usage_always
        self._head: dict[str, Any] = {"id": f"{_LETTER[api]}-{number}", "created": CREATED, "model": model}

    def whole(self) -> bytes:
        """The body of an answer that is not streamed."""
        text = words(0, self._output_tokens)
        if self._api is Api.CHAT:
            choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        else:
            choice = {"text": text}
        kind = "chat.completion" if self._api is Api.CHAT else "text_completion"
        choices = [{"index": 0, **choice, "finish_reason": "stop"}]
        return msgspec.json.encode(self._head | {"object": kind, "choices": choices, "usage": self._usage()})

    def opening(self) -> bytes:
        """The event before the first piece: a chat names its role."""
        return self._event({"role": "assistant", "content": ""}, 0) if self._api is Api.CHAT else b""

    def piece(self, start: int, count: int) -> bytes:
        """The tokens `start` to `start + count`; the last piece says why it ends."""
        last = start + count >= self._output_tokens
        return self._event({"content": words(start, count)}, start + count, "stop" if last else None)

    def usage(self) -> bytes:
        """The event that tells the tokens."""
        return _framed(self._head | {"object": self._kind, "choices": [], "usage": self._usage()})

    @property
    def _kind(self) -> str:
        return "chat.completion.chunk" if self._api is Api.CHAT else "text_completion"

    def _usage(self, written: int = -1) -> dict[str, int]:
        output = self._output_tokens if written < 0 else written
        prompt = self._prompt_tokens
        return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}

    def _event(self, delta: dict[str, str], written: int, reason: str | None = None) -> bytes:
        said: dict[str, Any] = {"delta": delta} if self._api is Api.CHAT else {"text": delta["content"]}
        choice = {"index": 0, **said, "finish_reason": reason}
        event = self._head | {"object": self._kind, "choices": [choice]}
        return _framed(event | {"usage": self._usage(written)} if self._usage_always else event)


def _framed(event: Mapping[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
