"""Takes base64 payloads out of a body before it is parsed, so that megabytes of media cost one search for a quote.

A payload that lies wholly inside one JSON string can be replaced by a short marker without changing anything else of
the document. Whoever reads the string finds the marker and claims the payload. What is left, the skeleton, is small,
and every check of the document runs on it.
"""

import re
from collections.abc import Iterator

import msgspec

# Shorter payloads are parsed like any other text.
MIN_PAYLOAD_BYTES = 4_096

_MARK = "#forebay-"
_MARK_BYTES = _MARK.encode()
_MARKER = re.compile(_MARK_BYTES + b"([0-9]{1,9})#")
_NUMBER = re.compile("[0-9]{1,9}")
# A sign of the mark, escaped: with it a client could write a mark that the search for marks would not see.
_ESCAPED_SIGN = re.compile(
    rb"\\u00(?:%b)" % b"|".join(b"%02x" % sign for sign in sorted({*_MARK_BYTES})), re.IGNORECASE
)
_URL_HEADER = re.compile(rb'[ \t]*data:[^",\\]{0,512},[ \t]*', re.IGNORECASE)
_DATA_KEY = re.compile(rb'"data"[ \t\r\n]*:[ \t\r\n]*\Z')
# How far before its value the key `data` may begin: with more whitespace the payload is parsed like any text.
_KEY_REACH = 32
_BACKSLASH = ord("\\")


class Payload(msgspec.Struct, frozen=True, gc=False):
    """A payload cut out: where it lies in the body, and where its marker ends in the skeleton."""

    start: int
    stop: int
    marked_until: int


class Skeleton:
    """A body without its payloads. `text` is what to parse."""

    __slots__ = ("_body", "_unclaimed", "payloads", "text")

    def __init__(self, body: bytes | bytearray) -> None:
        """Cut `body`, which must not change while this lives."""
        self._body = memoryview(body)
        self.payloads: list[Payload] = []
        self.text = self._cut(body) if len(body) >= MIN_PAYLOAD_BYTES else bytes(body)
        self._unclaimed = set(range(len(self.payloads)))

    def claim(self, string: str) -> tuple[str, memoryview | None]:
        """A string as parsed, split into what stands before its payload, and the payload's bytes in the body.

        A string without a payload comes back whole, with None. A payload can be claimed once.
        """
        if not self.payloads or not string.endswith("#"):
            return string, None
        head, mark, number = string[:-1].rpartition(_MARK)
        if not mark or not _NUMBER.fullmatch(number) or int(number) not in self._unclaimed:
            return string, None
        self._unclaimed.discard(int(number))
        payload = self.payloads[int(number)]
        return head, self._body[payload.start : payload.stop]

    def whole(self, string: str) -> str:
        """A string as parsed, with its payload back in its place. Raises msgspec.DecodeError when that is no JSON."""
        head, payload = self.claim(string)
        return string if payload is None else head + _as_string(payload)

    def restored(self, raw: bytes) -> bytes:
        """A stretch of the skeleton, with the payloads that lie in it back in their places."""
        if not self.payloads or _MARK_BYTES not in raw:
            return raw
        return _MARKER.sub(self._payload_of, raw)

    def check_unclaimed(self) -> None:
        """Check payloads that nobody claimed, in fields that are not read here. Raises msgspec.DecodeError."""
        for number in self._unclaimed:
            payload = self.payloads[number]
            _as_string(self._body[payload.start : payload.stop])

    def place(self, at: int) -> int:
        """The offset in the body of an offset in the skeleton, which must not lie inside a marker."""
        shift = 0
        for payload in self.payloads:
            if at < payload.marked_until:
                break
            shift = payload.stop - payload.marked_until
        return at + shift

    def _payload_of(self, marker: re.Match[bytes]) -> bytes:
        payload = self.payloads[int(marker[1])]
        return bytes(self._body[payload.start : payload.stop])

    def _cut(self, body: bytes | bytearray) -> bytes:
        pieces: list[bytes | memoryview] = []
        kept_until = length = 0
        for number, (start, stop) in enumerate(_find_payloads(body)):
            mark = b"%b%d#" % (_MARK_BYTES, number)
            pieces += (self._body[kept_until:start], mark)
            length += start - kept_until + len(mark)
            kept_until = stop
            self.payloads.append(Payload(start, stop, length))
        if not pieces:
            return bytes(body)
        pieces.append(self._body[kept_until:])
        text = b"".join(pieces)
        if text.count(_MARK_BYTES) == len(self.payloads) and not _ESCAPED_SIGN.search(text):
            return text
        self.payloads.clear()
        return bytes(body)


def _find_payloads(body: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Every long stretch without a quote holds a whole window of half its least length: one look at each finds it."""
    window = MIN_PAYLOAD_BYTES // 2
    at = 0
    while at + window <= len(body):
        if body.find(b'"', at, at + window) >= 0:
            at += window
            continue
        opening, closing = body.rfind(b'"', 0, at), body.find(b'"', at)
        if opening < 0 or closing < 0:
            return
        start = _payload_start(body, opening)
        # No base64 ends in a backslash: such a quote is part of some text.
        if start and closing - start >= MIN_PAYLOAD_BYTES and body[closing - 1] != _BACKSLASH:
            yield start, closing
        at = closing


def _payload_start(body: bytes | bytearray, opening: int) -> int:
    """Where the payload begins in the string that opens at this quote, 0 when that does not look like media."""
    if body[opening - 1] == _BACKSLASH:
        return 0
    header = _URL_HEADER.match(body, opening + 1)
    if header is not None:
        return header.end()
    is_data = _DATA_KEY.search(body, max(0, opening - _KEY_REACH), opening)
    return opening + 1 if is_data is not None else 0


def _as_string(payload: memoryview) -> str:
    text: str = msgspec.json.decode(b"".join((b'"', payload, b'"')), type=str)
    return text
