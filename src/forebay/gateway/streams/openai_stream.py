"""Streams of chat completions and completions."""

from typing import Any

import msgspec

from forebay.domain.request import Api
from forebay.gateway.streams.failures import stream_failure
from forebay.gateway.streams.machine import StreamMachine
from forebay.gateway.streams.model_name import ModelRestorer
from forebay.gateway.streams.sse import DEFAULTS, SseSettings, with_payload
from forebay.gateway.streams.usage import openai_usage

_DONE = b"[DONE]"
# What a delta says before there is anything to say.
_PREAMBLE_KEYS = frozenset(["role"])


class _Delta(msgspec.Struct, gc=False):
    content: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    tool_calls: Any = None
    function_call: Any = None
    refusal: Any = None


class _Choice(msgspec.Struct, gc=False):
    index: Any = 0
    delta: _Delta | None = None
    text: Any = None
    finish_reason: Any = None


class _Chunk(msgspec.Struct, gc=False):
    model: Any = None
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None


_CHUNK = msgspec.json.Decoder(_Chunk)


class OpenAIStream(StreamMachine):
    """Chunks of `chat.completion.chunk` or `text_completion`, ended by `[DONE]`."""

    def __init__(
        self,
        api: Api,
        client_model: str,
        *,
        rename: bool = False,
        usage_wanted: bool = True,
        choices: int = 1,
        settings: SseSettings = DEFAULTS,
    ) -> None:
        """`usage_wanted`: the client asked for the usage chunk. `choices`: how many answers must finish."""
        super().__init__(client_model, rename=rename, settings=settings)
        self.api = api
        self.finish_reasons: dict[int, str] = {}
        self._usage_wanted = usage_wanted
        self._choices = choices
        self._restorer = ModelRestorer(client_model)

    def _read(self, event: bytes, payload: bytes, at: int) -> bytes:
        try:
            chunk = _CHUNK.decode(payload)
        except (msgspec.DecodeError, RecursionError):
            return self._unreadable(event, payload)
        if chunk.error is not None:
            return self._error(event, chunk.error)
        shown = event
        if self._rename and chunk.model is not None and chunk.model != self._client_model:
            renamed = self._restorer.restore(payload)
            shown, payload = with_payload(event, payload, renamed), renamed
        if chunk.usage is not None:
            self.tally.reported = openai_usage(chunk.usage) or self.tally.reported
        if not chunk.choices:
            return self._without_choices(shown, payload, chunk)
        for choice in chunk.choices:
            self._count(choice, at)
        if not self._is_content:
            self._is_content = _has_unknown_delta(payload)
        if self.content_sent and _is_one_piece(chunk):
            self._typical.learn(event, shown)
        return shown

    def _count(self, choice: _Choice, at: int) -> None:
        tally = self.tally
        deltas = tally.deltas
        delta = choice.delta
        if delta is not None:
            tally.count(
                at,
                content=bool(delta.content or delta.refusal),
                reasoning=bool(delta.reasoning or delta.reasoning_content),
                tool=bool(delta.tool_calls or delta.function_call),
            )
        elif choice.text:
            tally.count(at, content=True, reasoning=False, tool=False)
        if choice.finish_reason is not None:
            index = choice.index if isinstance(choice.index, int) else 0
            self.finish_reasons[index] = str(choice.finish_reason)
            self._is_content = True
        elif tally.deltas != deltas:
            self._is_content = True

    def _without_choices(self, event: bytes, payload: bytes, chunk: _Chunk) -> bytes:
        """The usage chunk, shown only to those who asked; or something that this gateway does not know."""
        if chunk.usage is not None:
            if not self._usage_wanted:
                return b""
            if chunk.choices is None and b'"choices"' not in payload:
                return with_payload(event, payload, payload.replace(b"{", b'{"choices":[],', 1))
            return event
        try:
            fields = msgspec.json.decode(payload)
        except (
            msgspec.DecodeError,
            UnicodeDecodeError,
        ):  # what the chunk's reader skips is not checked by it
            return self._unreadable(event, payload)
        return self._error(event, fields) if fields.get("object") == "error" else event

    def _unreadable(self, event: bytes, payload: bytes) -> bytes:
        if payload.strip() == _DONE:
            self.done = True
            self._is_content = True
        return event

    def _error(self, event: bytes, error: Any) -> bytes:
        self.failure = stream_failure(error)
        return event

    def _is_whole(self) -> bool:
        return self.done or len(self.finish_reasons) >= self._choices

    def _closing(self) -> bytes:
        return b"" if self.done else b"data: [DONE]\n\n"

    def _is_readable(self, payload: bytes) -> bool:
        return payload.strip() == _DONE or _is_chunk(payload)


def _is_chunk(payload: bytes) -> bool:
    try:
        _CHUNK.decode(payload)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _is_one_piece(chunk: _Chunk) -> bool:
    """Whether there is one piece of text to count here, and no other thing."""
    if chunk.usage is not None or chunk.choices is None or len(chunk.choices) != 1:
        return False
    choice = chunk.choices[0]
    if choice.finish_reason is not None:
        return False
    delta = choice.delta
    if delta is None:
        return isinstance(choice.text, str) and bool(choice.text)
    pieces = (
        delta.content,
        delta.reasoning,
        delta.reasoning_content,
        delta.tool_calls,
        delta.function_call,
        delta.refusal,
    )
    said = [piece for piece in pieces if piece]
    return len(said) == 1 and isinstance(said[0], str) and not delta.refusal


def _has_unknown_delta(payload: bytes) -> bool:
    """Whether a delta holds something under a name that is not read here: a client would miss it."""
    try:
        choices = msgspec.json.decode(payload).get("choices")
    except (msgspec.DecodeError, UnicodeDecodeError):  # bad text, in what is not read here
        return True
    deltas = [choice.get("delta") or {} for choice in choices]
    return any(value and key not in _PREAMBLE_KEYS for delta in deltas for key, value in delta.items())
