"""Streams whose events name their type: responses, transcripts, speech, pictures.

vLLM writes transcripts as chunks with choices, ended by `[DONE]`: those are read here too.
"""

from typing import Any

import msgspec

from forebay.domain.request import Api
from forebay.gateway.streams.failures import stream_failure
from forebay.gateway.streams.kept_ids import ResponseRestorer
from forebay.gateway.streams.machine import StreamMachine
from forebay.gateway.streams.model_name import ModelRestorer
from forebay.gateway.streams.sse import DEFAULTS, SseSettings, with_payload
from forebay.gateway.streams.usage import openai_usage


class _Response(msgspec.Struct, gc=False):
    id: Any = None
    model: Any = None
    usage: Any = None
    error: Any = None


class _Event(msgspec.Struct, gc=False):
    type: Any = None
    delta: Any = None
    response: _Response | None = None
    model: Any = None
    choices: Any = None
    usage: Any = None
    error: Any = None
    code: Any = None
    message: Any = None


_EVENT = msgspec.json.Decoder(_Event)
_DONE = b"[DONE]"
# What announces an answer and says nothing of it yet.
_PREAMBLE = frozenset(
    [
        *("response.created", "response.queued", "response.in_progress"),
        *("response.output_item.added", "response.content_part.added", "response.reasoning_part.added"),
    ]
)
_LAST = frozenset(
    [
        *("response.completed", "response.incomplete", "response.cancelled"),
        *("transcript.text.done", "speech.audio.done", "image_generation.completed", "image_edit.completed"),
    ]
)


class TypedStream(StreamMachine):
    """Events with a `type`. Usage is part of the last one, and is shown as it is."""

    def __init__(
        self,
        api: Api,
        client_model: str,
        *,
        rename: bool = False,
        responses: ResponseRestorer | None = None,
        settings: SseSettings = DEFAULTS,
    ) -> None:
        """`responses` restores the response objects in events, where there are any."""
        super().__init__(client_model, rename=rename, settings=settings)
        self.api = api
        self._responses = responses
        self._restorer = ModelRestorer(client_model)

    def _read(self, event: bytes, payload: bytes, at: int) -> bytes:
        try:
            told = _EVENT.decode(payload)
        except (msgspec.DecodeError, RecursionError):
            return self._unreadable(event, payload)
        shown = self._restored(event, payload, told)
        if told.type == "error" or told.error is not None:
            self.failure = stream_failure(told.error or {"code": told.code, "message": told.message})
            return shown
        if told.type == "response.failed":
            self.failure = stream_failure(told.response.error if told.response else None)
            return shown
        reported = told.response.usage if told.response is not None else told.usage
        self.tally.reported = openai_usage(reported) or self.tally.reported
        self._account(told, at)
        return shown

    def _account(self, told: _Event, at: int) -> None:
        kind = told.type if isinstance(told.type, str) else ""
        if kind in _LAST:
            self.done = True
        if kind.endswith(".delta") or told.choices:
            reasoning, tool = "reasoning" in kind, "arguments" in kind
            self.tally.count(at, content=not (reasoning or tool), reasoning=reasoning, tool=tool)
        if kind not in _PREAMBLE:
            self._is_content = True

    def _restored(self, event: bytes, payload: bytes, told: _Event) -> bytes:
        restored = payload
        if told.response is not None and self._responses is not None:
            restored = self._responses.inside(payload)
        elif self._rename and told.model is not None and told.model != self._client_model:
            restored = self._restorer.restore(payload)
        return event if restored is payload else with_payload(event, payload, restored)

    def _unreadable(self, event: bytes, payload: bytes) -> bytes:
        if payload.strip() == _DONE:
            self.done = self._is_content = True
        return event

    def _is_whole(self) -> bool:
        return self.done

    def _closing(self) -> bytes:
        return b""

    def _is_readable(self, payload: bytes) -> bool:
        if payload.strip() == _DONE:
            return True
        try:
            _EVENT.decode(payload)
        except (msgspec.DecodeError, RecursionError):
            return False
        return True
