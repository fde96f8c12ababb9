"""Gives a reply the model name that the client wrote, and touches no other byte."""

import msgspec

from forebay.intake.members import layout_of

_KEY = b'"model"'
# An ASCII letter of the key could be written as an escape; then the fast way cannot tell keys apart.
_ESCAPED_LETTER = b"\\u006"


class ModelRestorer:
    """Replaces the value of the top-level `model` in JSON payloads of one reply.

    Engines write the same member in every chunk. Once it was found exactly, it is sought as text: where the key stands
    once in the whole payload, unescaped, that is the member, since text inside JSON strings has its quotes escaped.
    """

    __slots__ = ("_member", "_name", "_replacement")

    def __init__(self, client_model: str) -> None:
        self._name = msgspec.json.encode(client_model)
        self._member = b""
        self._replacement = b""

    def restore(self, payload: bytes) -> bytes:
        """The payload with the client's name as its `model`. One that has no such member, or two, stays as it is."""
        member = self._member
        if member and member in payload and payload.count(_KEY) == 1 and _ESCAPED_LETTER not in payload:
            return payload.replace(member, self._replacement, 1)
        return self._restore_exactly(payload)

    def _restore_exactly(self, payload: bytes) -> bytes:
        try:
            spans, hidden = layout_of(payload)
        except (msgspec.DecodeError, RecursionError):
            return payload
        span = spans.get("model")
        if span is None or "model" in hidden:
            return payload
        key = payload.rfind(_KEY, 0, span.start)
        if key >= 0 and payload.count(_KEY) == 1:
            self._member = payload[key : span.stop]
            self._replacement = payload[key : span.start] + self._name
        return payload[: span.start] + self._name + payload[span.stop :]
