"""Streams of Anthropic messages: `message_start` to `message_stop`."""

from typing import Any

import msgspec

from forebay.domain.request import Api
from forebay.gateway.streams.failures import stream_failure
from forebay.gateway.streams.machine import StreamMachine
from forebay.gateway.streams.model_name import ModelRestorer
from forebay.gateway.streams.sse import DEFAULTS, SseSettings, with_payload
from forebay.gateway.streams.usage import anthropic_usage
from forebay.intake.members import layout_of


class _Message(msgspec.Struct, gc=False):
    model: Any = None
    usage: Any = None


class _Delta(msgspec.Struct, gc=False):
    text: Any = None
    thinking: Any = None
    partial_json: Any = None
    stop_reason: Any = None


class _Block(msgspec.Struct, gc=False):
    type: Any = None
    text: Any = None
    thinking: Any = None


class _Event(msgspec.Struct, gc=False):
    type: Any = None
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: Any = None
    error: Any = None


_EVENT = msgspec.json.Decoder(_Event)
# Blocks that say nothing before their first delta. Any other (tool_use names its tool) is content by itself.
_EMPTY_BLOCKS = frozenset(["text", "thinking"])
_LAST_EVENT = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


class AnthropicStream(StreamMachine):
    """Named events. Usage is always part of them, and is shown as it is."""

    api = Api.MESSAGES

    def __init__(self, client_model: str, *, rename: bool = False, settings: SseSettings = DEFAULTS) -> None:
        """See StreamMachine."""
        super().__init__(client_model, rename=rename, settings=settings)
        self.stop_reason: str | None = None
        self._restorer = ModelRestorer(client_model)

    def _read(self, event: bytes, payload: bytes, at: int) -> bytes:
        try:
            told = _EVENT.decode(payload)
        except (msgspec.DecodeError, RecursionError):
            return event
        if told.error is not None:
            self.failure = stream_failure(told.error)
        elif told.type == "message_stop":
            self.done = self._is_content = True
        elif told.message is not None:
            return self._message_start(event, payload, told.message)
        elif told.content_block is not None:
            self._block_start(told.content_block, at)
        elif told.delta is not None:
            self._delta(event, told, told.delta, at)
        return event

    def _message_start(self, event: bytes, payload: bytes, message: _Message) -> bytes:
        self.tally.reported = anthropic_usage(message.usage, self.tally.reported)
        if not self._rename or message.model is None or message.model == self._client_model:
            return event
        return with_payload(event, payload, self._renamed(payload))

    def _renamed(self, payload: bytes) -> bytes:
        spans, hidden = layout_of(payload)
        if "message" in hidden:
            return payload
        span = spans["message"]
        message = self._restorer.restore(payload[span.start : span.stop])
        return payload[: span.start] + message + payload[span.stop :]

    def _block_start(self, block: _Block, at: int) -> None:
        is_tool = block.type not in _EMPTY_BLOCKS
        self._count(at, content=bool(block.text), reasoning=bool(block.thinking), tool=is_tool)

    def _delta(self, event: bytes, told: _Event, delta: _Delta, at: int) -> None:
        self.tally.reported = anthropic_usage(told.usage, self.tally.reported)
        if delta.stop_reason is not None:
            self.stop_reason = str(delta.stop_reason)
            self._is_content = True
        content, reasoning, tool = bool(delta.text), bool(delta.thinking), bool(delta.partial_json)
        self._count(at, content=content, reasoning=reasoning, tool=tool)
        if self.content_sent and content + reasoning + tool == 1 and not tool and told.usage is None:
            self._typical.learn(event, event)

    def _count(self, at: int, *, content: bool, reasoning: bool, tool: bool) -> None:
        self.tally.count(at, content=content, reasoning=reasoning, tool=tool)
        if content or reasoning or tool:
            self._is_content = True

    def _is_whole(self) -> bool:
        return self.done or self.stop_reason is not None

    def _closing(self) -> bytes:
        return b"" if self.done else _LAST_EVENT

    def _is_readable(self, payload: bytes) -> bool:
        try:
            _EVENT.decode(payload)
        except (msgspec.DecodeError, RecursionError):
            return False
        return True
