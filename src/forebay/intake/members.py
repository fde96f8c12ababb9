"""The members of a JSON object, and where they lie in its bytes, so that one can be replaced and no other byte touched."""

import functools
import json
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from forebay.intake.refusal import bad_request

T = TypeVar("T")

_RAWS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_SPACE = re.compile(rb"[ \t\r\n]*")
# What may stand between two values of an object when no member is hidden there by a later one of the same name.
_BETWEEN = re.compile(rb'[{,][ \t\r\n]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_COLON = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_ESCAPED_ASCII = b"\\u00"
# Up to here, counting a few keys is cheaper than finding every member.
_SMALL_BYTES = 4_096


# Ten times the parameters of the largest API; each costs some microseconds here.
MAX_MEMBERS = 1_000


class Span(NamedTuple):
    """A half-open range of bytes."""

    start: int
    stop: int


class Layout(NamedTuple):
    """Where the values of an object lie, by unescaped key, and the keys that come again later, so that one is hidden."""

    spans: dict[str, Span]
    hidden: frozenset[str]


class Members:
    """The top-level members of one object, by key. Values are raw JSON."""

    __slots__ = ("_document", "_raws", "_spans")

    def __init__(self, document: bytes, sensitive: frozenset[str]) -> None:
        """Read `document`. `sensitive` are ASCII keys that may come once only: readers may differ in which they take.

        Raises a Refusal that names a sensitive key that comes twice, or when there are very many keys, and
        msgspec.DecodeError when `document` is no object.
        """
        self._document = document
        self._raws = _RAWS.decode(document)
        if len(self._raws) > MAX_MEMBERS:
            raise bad_request("body_too_large", f"the body has more than {MAX_MEMBERS} keys")
        self._spans: dict[str, Span] | None = None
        if len(document) > _SMALL_BYTES or not come_once(document, sensitive):
            self._spans, hidden = layout_of(document, self._raws)
            for key in sorted(hidden & sensitive):
                raise bad_request("duplicate_key", "the key comes more than once", key)

    def get(self, key: str, decoder: msgspec.json.Decoder[T]) -> T | None:
        """The value of `key`, or None when it is absent or null. Raises a Refusal when it has another shape."""
        raw = self._raws.get(key)
        if raw is None or raw == _NULL:
            return None
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError as fault:
            raise bad_request("invalid_type", str(fault).replace("`$", f"`{key}"), key) from None

    def raw(self, key: str) -> bytes:
        """The JSON of `key`, empty when it is absent or null."""
        raw = self._raws.get(key)
        return b"" if raw is None or raw == _NULL else bytes(raw)

    def holds_any(self, keys: frozenset[str]) -> bool:
        """Whether one of `keys` is present."""
        return not keys.isdisjoint(self._raws)

    def __contains__(self, key: str) -> bool:
        return key in self._raws

    def span(self, key: str) -> Span:
        """Where the value of `key` lies in the document. The key is sensitive and present."""
        return span_of(self._document, key, self._raws[key]) if self._spans is None else self._spans[key]


_NULL = msgspec.Raw(b"null")


def come_once(document: bytes, keys: frozenset[str]) -> bool:
    """Whether counting shows that none of these ASCII keys comes twice in `document`. Without an escape none can hide."""
    if _ESCAPED_ASCII in document:
        return False
    found = [*filter(_spelled(keys).__contains__, document.split(b'"'))]
    return len(found) == len(set(found))


def span_of(document: bytes, key: str, raw: msgspec.Raw) -> Span:
    """Where `raw`, the value of `key`, lies in `document`, in which `come_once` is true of the key."""
    quoted = _quoted(key)
    colon = _COLON.match(document, document.find(quoted) + len(quoted))
    assert colon is not None
    start = colon.end()
    return Span(start, start + memoryview(raw).nbytes)


@functools.cache
def _spelled(keys: frozenset[str]) -> frozenset[bytes]:
    return frozenset(key.encode() for key in keys)


@functools.cache
def _quoted(key: str) -> bytes:
    return b'"%b"' % key.encode()


def layout_of(document: bytes, raws: dict[str, msgspec.Raw] | None = None) -> Layout:
    """The layout of the object `document`. `raws` are its members decoded from that very buffer, if they are at hand.

    Raises msgspec.DecodeError when `document` is no object.
    """
    origin = _address(document)
    spans = {}
    for key, raw in (_RAWS.decode(document) if raws is None else raws).items():
        start = _address(raw) - origin
        spans[key] = Span(start, start + memoryview(raw).nbytes)
    hidden: set[str] = set()
    previous = _skip_space(document, 0)
    for span in sorted(spans.values()):
        if not _BETWEEN.fullmatch(document, previous, span.start):
            hidden.update(_keys(document[previous : span.start])[:-1])
        previous = _skip_space(document, span.stop)
    return Layout(spans, frozenset(hidden))


def items_of(document: bytes) -> Iterator[Span]:
    """Where the values of the array `document` lie. Raises msgspec.DecodeError when it is none."""
    origin = _address(document)
    for raw in _ITEMS.decode(document):
        start = _address(raw) - origin
        yield Span(start, start + memoryview(raw).nbytes)


def check_hidden_media(document: bytes, keys_read: int, *, holds_parts: bool, holds_unseen: bool) -> None:
    """Refuse a body in which a key about media comes twice in one object, at any depth.

    `keys_read` keys of contents and media addresses were read in it, with `holds_parts` of some content as a list of
    parts, and with `holds_unseen` media without an address.
    Readers differ in which of two equal keys they take, and an engine must not fetch or see another picture than the
    one that was priced and allowed. No more such keys than were read leave nothing hidden.
    """
    if not holds_unseen and not _ESCAPED.search(document):
        # Without parts there is no address but in content that is hidden, and a count is cheaper than the search.
        if not holds_parts and document.count(b'"content"') <= keys_read:
            return
        if len(_ADDRESS.findall(document)) <= keys_read:
            return
    json.loads(document, object_pairs_hook=_refuse_repeated)


_ADDRESS_KEYS = (
    *("content", "url", "data", "file_data", "file_url", "image_url", "audio_url", "video_url"),
    *("image", "audio", "video", "input_image", "input_audio"),
)
# The value of such a key that is an object holds others, which count: schemas of tools are full of them.
_ADDRESS = re.compile(rb'"(?:%b)"[ \t\r\n]*:[ \t\r\n]*[^{ \t\r\n]' % "|".join(_ADDRESS_KEYS).encode())
# An escaped letter or underscore can hide a key.
_ESCAPED = re.compile(rb"\\u00[5-7]")
_MEDIA_KEYS = frozenset([*_ADDRESS_KEYS, "type", "source", "file", "input_file", "role"])


def _refuse_repeated(members: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for key, _ in members:
        if key in seen and key in _MEDIA_KEYS:
            raise bad_request("duplicate_key", f"the key `{key}` comes more than once in one object")
        seen.add(key)


def _address(buffer: bytes | msgspec.Raw) -> int:
    place: int = np.frombuffer(buffer, dtype=np.uint8).__array_interface__["data"][0]
    return place


def _skip_space(document: bytes, at: int) -> int:
    space = _SPACE.match(document, at)
    assert space is not None
    return space.end()


def _keys(between: bytes) -> list[str]:
    """Keys of the members in a stretch from a brace or comma up to a value; the last key is that value's."""
    pairs = json.loads(b"{%b0}" % between[1:], object_pairs_hook=list)
    return [key for key, _ in pairs]
