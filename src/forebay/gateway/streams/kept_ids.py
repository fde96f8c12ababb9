"""Gives the `response` objects of an engine the ids and the model name that the client knows, and touches no other byte."""

from collections.abc import Callable

import msgspec

from forebay.intake.members import Span, layout_of

_IDS = ("id", "previous_response_id")
_TEXT = msgspec.json.Decoder(str)


class ResponseRestorer:
    """`seal` makes the client's id of an engine's. `model` is the client's name, None where the engine's is the same."""

    __slots__ = ("_model", "_seal")

    def __init__(self, seal: Callable[[str], str], model: str | None = None) -> None:
        self._seal = seal
        self._model = model

    def whole(self, payload: bytes) -> bytes:
        """A response object, or the receipt of its deletion."""
        try:
            spans, hidden = layout_of(payload)
        except (msgspec.DecodeError, RecursionError):
            return payload
        edits = []
        for key in (*_IDS, "model"):
            span = spans.get(key)
            if span is not None and key not in hidden:
                edits.append((span, self._restored(key, payload[span.start : span.stop])))
        return _spliced(payload, edits)

    def inside(self, payload: bytes) -> bytes:
        """An event that holds one as `response`."""
        spans, hidden = layout_of(payload)
        span = spans.get("response")
        if span is None or "response" in hidden:
            return payload
        return _spliced(payload, [(span, self.whole(payload[span.start : span.stop]))])

    def _restored(self, key: str, value: bytes) -> bytes:
        if not value.startswith(b'"'):
            return value
        if key == "model":
            return value if self._model is None else msgspec.json.encode(self._model)
        try:
            return msgspec.json.encode(self._seal(_TEXT.decode(value)))
        except msgspec.DecodeError:  # a string that is none: the client's parser says so best
            return value


def _spliced(payload: bytes, edits: list[tuple[Span, bytes]]) -> bytes:
    pieces: list[bytes] = []
    kept_until = 0
    for (start, stop), text in sorted(edits):
        pieces += (payload[kept_until:start], text)
        kept_until = stop
    return b"".join((*pieces, payload[kept_until:]))
