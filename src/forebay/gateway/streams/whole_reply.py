"""Replies that come in one piece: their usage, their error, and the names that the client knows."""

from typing import Any

import msgspec

from forebay.domain.outcome import Usage
from forebay.gateway.streams.failures import stream_failure
from forebay.gateway.streams.kept_ids import ResponseRestorer
from forebay.gateway.streams.machine import StreamFailure
from forebay.gateway.streams.model_name import ModelRestorer
from forebay.gateway.streams.usage import anthropic_usage, openai_usage
from forebay.intake.form import Replies


class _Reply(msgspec.Struct, gc=False):
    object: Any = None
    model: Any = None
    usage: Any = None
    error: Any = None


_REPLY = msgspec.json.Decoder(_Reply)
_NO_USAGE = Usage()


class WholeReply(msgspec.Struct, frozen=True, gc=False):
    """A reply read. `body` is the engine's, but for the names. `failure` is the error that it tells of, if any."""

    body: bytes
    usage: Usage = _NO_USAGE
    failure: StreamFailure | None = None


def read_reply(
    replies: Replies,
    body: bytes,
    client_model: str,
    *,
    rename: bool,
    responses: ResponseRestorer | None = None,
) -> WholeReply:
    """Read a whole reply. One that is not a JSON object passes as it is, with no usage.

    `rename` tells that the engine knows the model by another name than `client_model`; `responses` restores the ids of
    responses, and the model's name with them.
    """
    try:
        reply = _REPLY.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return WholeReply(body)
    if responses is not None:
        # A response that failed is an answer too, and holds its error.
        if reply.error is None or reply.object == "response":
            return WholeReply(responses.whole(body), _usage(replies, reply.usage))
    elif rename and isinstance(reply.model, str) and reply.model != client_model:
        body = ModelRestorer(client_model).restore(body)
    failure = None if reply.error is None else stream_failure(reply.error)
    return WholeReply(body, _usage(replies, reply.usage), failure)


def _usage(replies: Replies, reported: Any) -> Usage:
    if replies is Replies.KEPT:
        return _NO_USAGE
    told = anthropic_usage(reported) if replies is Replies.MESSAGES else openai_usage(reported)
    return told or _NO_USAGE
