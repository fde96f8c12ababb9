"""Replaces a few ranges of a body. All other bytes are the client's, in the client's memory."""

from collections.abc import Iterable

import msgspec

from forebay.intake.members import Layout, Span, layout_of
from forebay.intake.refusal import bad_request

_WANT_USAGE = b'"stream_options":{"include_usage":true}'


class Edit(msgspec.Struct, frozen=True, gc=False):
    """Put `text` in place of the bytes from `start` to `stop`; where both are equal, insert it."""

    start: int
    stop: int
    text: bytes


class EditPoints(msgspec.Struct, frozen=True, gc=False):
    """What may have to change in a body before an engine gets it.

    `model` is the range of the model's name: a JSON string, or `bare` text in a form; None where the body names none.
    `want_usage` makes a stream report its usage; None when the client asked for that itself, or asked for no stream.
    `choices` is how many answers a stream will finish. `always` are edits that every engine needs.
    """

    model: Span | None = None
    want_usage: Edit | None = None
    choices: int = 1
    bare: bool = False
    always: tuple[Edit, ...] = ()


def model_edits(points: EditPoints, name: str) -> list[Edit]:
    """Ask for the model by another name, where the body names it."""
    if points.model is None:
        return []
    text = name.encode() if points.bare else msgspec.json.encode(name)
    return [Edit(points.model.start, points.model.stop, text)]


def splice(body: bytes | bytearray, edits: Iterable[Edit]) -> list[bytes | memoryview]:
    """The edited body in pieces, without a copy of what stays. Edits must not overlap."""
    view = memoryview(body)
    pieces: list[bytes | memoryview] = []
    kept_until = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += (view[kept_until : edit.start], edit.text)
        kept_until = edit.stop
    pieces.append(view[kept_until:])
    return pieces


def usage_edit(options: bytes, span: Span | None, first_member: int) -> tuple[Edit | None, bool]:
    """How to make `stream_options` include usage, and whether it does already.

    `options` is its JSON, empty when it is absent or null; `span` its range, None when it is absent; `first_member` is
    where a first member can be inserted. Raises a Refusal when it is something else than an object.
    """
    if span is None:
        return Edit(first_member, first_member, _WANT_USAGE + b","), False
    if not options:
        return Edit(span.start, span.stop, b'{"include_usage":true}'), False
    return _edit_object(options, span)


def _edit_object(options: bytes, span: Span) -> tuple[Edit | None, bool]:
    layout = _layout(options)
    wanted = layout.spans.get("include_usage")
    if wanted is None:
        comma = b"," if layout.spans else b""
        return Edit(span.start + 1, span.start + 1, b'"include_usage":true' + comma), False
    value = options[wanted.start : wanted.stop]
    if value == b"true":
        return None, True
    if value not in {b"false", b"null"}:
        raise bad_request("invalid_type", "Expected `bool`", "stream_options.include_usage")
    return Edit(span.start + wanted.start, span.start + wanted.stop, b"true"), False


def _layout(options: bytes) -> Layout:
    try:
        layout = layout_of(options)
    except msgspec.ValidationError:
        raise bad_request("invalid_type", "Expected `object`", "stream_options") from None
    if "include_usage" in layout.hidden:
        raise bad_request("duplicate_key", "the key comes more than once", "stream_options.include_usage")
    return layout
