"""Content codings: bodies that come compressed, undone within a bound."""

import zlib

from forebay.gateway.http1.message import HeaderList

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_GZIP_NAMES = frozenset({b"gzip", b"x-gzip"})
MAX_MEMBERS = 64
"""Of one gzip body. Compressors write one; each costs a copy of all that follows it, so a body of empty ones would be a bomb."""


class CodingError(ValueError):
    """A body that cannot be decoded. `status`, `code` and `message` are for the answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def decode_body(coding: bytes | None, body: bytes | bytearray, max_bytes: int) -> bytes | bytearray:
    """`body` without its content coding. gzip is undone up to `max_bytes`; others are refused. Raises CodingError."""
    if coding is None:
        return body
    name = coding.strip().lower()
    if name in {b"", b"identity"}:
        return body
    if name not in _GZIP_NAMES:
        raise CodingError(
            415, "unsupported-content-encoding", "the body's content-encoding is not gzip or identity"
        )
    try:
        return gunzip(body, max_bytes)
    except zlib.error:
        raise CodingError(400, "bad-content-encoding", "the body is not valid gzip") from None


def gunzip(data: bytes | bytearray, max_bytes: int) -> bytes:
    """Undo gzip, members one after the other. Raises CodingError past `max_bytes`, zlib.error when it is broken."""
    out = bytearray()
    rest: bytes | bytearray = data
    for _ in range(MAX_MEMBERS):
        member = zlib.decompressobj(_GZIP_WINDOW)
        out += member.decompress(rest, max_bytes - len(out) + 1)
        if len(out) > max_bytes:
            raise CodingError(
                413, "body-too-large", f"the body is larger than {max_bytes} bytes once decoded"
            )
        if not member.eof:
            raise zlib.error("the gzip member is cut off")
        rest = member.unused_data
        if not rest:
            return bytes(out)
    raise zlib.error(f"more than {MAX_MEMBERS} gzip members")


class Gunzip:
    """Undoes a gzip body as it comes. Raises CodingError past `max_bytes` or when it is broken."""

    __slots__ = ("_left", "_member")

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._member = zlib.decompressobj(_GZIP_WINDOW)

    @property
    def complete(self) -> bool:
        """The end of the compressed data has come."""
        return self._member.eof

    def feed(self, data: bytes) -> bytes:
        """What `data` holds, decoded."""
        if self._member.eof:
            raise CodingError(502, "bad-content-encoding", "bytes after the end of a gzip body")
        try:
            out = self._member.decompress(data, self._left + 1)
        except zlib.error:
            raise CodingError(502, "bad-content-encoding", "the body is not valid gzip") from None
        self._left -= len(out)
        if self._left < 0 or self._member.unused_data:
            raise CodingError(
                502, "bad-content-encoding", "a gzip body is too large, or goes on after its end"
            )
        return out


def without_gzip(headers: HeaderList) -> HeaderList | None:
    """The headers of the decoded body, if these say that the body is gzip; None if not."""
    if not any(name == b"content-encoding" and value.lower() in _GZIP_NAMES for name, value in headers):
        return None
    return [header for header in headers if header[0] not in {b"content-encoding", b"content-length"}]
