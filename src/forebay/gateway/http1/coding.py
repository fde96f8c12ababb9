"""Content codings: bodies that come compressed, undone within a bound."""

import zlib

from forebay.gateway.http1.message import HeaderList

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
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
    name = (coding or b"").strip().lower()
    if name in {b"", b"identity"}:
        return body
    if name not in {b"gzip", b"x-gzip"}:
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


def is_gzip(headers: HeaderList) -> bool:
    """Whether these headers say that the body is gzip."""
    return any(
        name == b"content-encoding" and value.lower() in {b"gzip", b"x-gzip"} for name, value in headers
    )


def accepts_gzip(accept_encoding: bytes | None) -> bool:
    """Whether a client that sent this Accept-Encoding takes gzip. A weight of 0 is a no; a name speaks louder than `*`."""
    offers: dict[bytes, bool] = {}
    for offer in (accept_encoding or b"").lower().split(b","):
        name, _, weight = offer.partition(b";")
        offers[name.strip()] = weight.replace(b" ", b"").rstrip(b"0") not in {b"q=", b"q=0."} or not weight
    return offers.get(b"gzip", offers.get(b"x-gzip", offers.get(b"*", False)))
