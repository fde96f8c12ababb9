"""Replies that come in one piece: their usage, their error, and the model name that the client knows."""

from typing import Any

import msgspec

from forebay.domain.outcome import Usage
from forebay.domain.request import Api
from forebay.gateway.streams.failures import stream_failure
from forebay.gateway.streams.machine import StreamFailure
from forebay.gateway.streams.model_name import ModelRestorer
from forebay.gateway.streams.usage import anthropic_usage, openai_usage


class _Reply(msgspec.Struct, gc=False):
    model: Any = None
    usage: Any = None
    error: Any = None


_REPLY = msgspec.json.Decoder(_Reply)
_NO_USAGE = Usage()


class WholeReply(msgspec.Struct, frozen=True, gc=False):
    """A reply read. `body` is the engine's, but for the model's name. `failure` is the error that it tells of, if any."""

    body: bytes
    usage: Usage = _NO_USAGE
    failure: StreamFailure | None = None


def read_reply(api: Api, body: bytes, client_model: str, *, rename: bool) -> WholeReply:
    """Read a whole reply. One that is not a JSON object passes as it is, with no usage.

    `rename` tells that the engine knows the model by another name than `client_model`.
    """
    try:
        reply = _REPLY.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return WholeReply(body)
    usage = anthropic_usage(reply.usage) if api is Api.MESSAGES else openai_usage(reply.usage)
    failure = None if reply.error is None else stream_failure(reply.error)
    if rename and isinstance(reply.model, str) and reply.model != client_model:
        body = ModelRestorer(client_model).restore(body)
    return WholeReply(body, usage or _NO_USAGE, failure)
