"""From the bytes of a request head to a `Request` with unambiguous framing, or to the reason why not."""

import msgspec

from forebay.gateway.http1.head import HeadError, check_lines, request_headers
from forebay.gateway.http1.limits import InboundLimits
from forebay.gateway.http1.message import HeaderList, Request

CHUNKED = -1
"""`body_bytes` of a request whose length is told chunk by chunk."""

_HOST_BYTES = b"-._~%!$&'()*+,;=:[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What RFC 3986 allows in an authority without user information."""

_VERSIONS = frozenset({b"HTTP/1.1", b"HTTP/1.0"})
_MAX_LENGTH_DIGITS = 18  # below 2**63
# Of two of them one reader takes the first, another the last; a form is read by the boundary in its type.
_ONCE = {b"host": "Host", b"content-length": "Content-Length", b"content-type": "Content-Type"}
_CONTROL = frozenset({*_ONCE, b"connection", b"transfer-encoding", b"expect", b"upgrade"})


class RequestHead(msgspec.Struct, frozen=True):
    """A request and what follows its head on the wire."""

    request: Request
    body_bytes: int
    expects_continue: bool


def check_growing(head: bytes | bytearray, limits: InboundLimits) -> None:
    """Refuse a head early whose end has not come yet. Raises HeadError (400, 414, 431)."""
    check_lines(head)
    line_end = head.find(b"\r\n")
    if (
        line_end < 0 and len(head) > limits.max_target_bytes + 32
    ):  # 32: the longest method, the version and two blanks
        raise _target_too_long(limits)
    if len(head) > limits.max_head_bytes:
        raise _head_too_long(limits)


def parse(head: bytes, peer: str, limits: InboundLimits) -> RequestHead:
    """Parse a whole head, its blank line included. Raises HeadError."""
    method, target, http10 = _request_line(head, limits)
    if len(head) > limits.max_head_bytes:
        raise _head_too_long(limits)
    lines = head.count(b"\n") - 2
    if lines > limits.max_header_lines:
        raise HeadError(
            431, "too-many-headers", f"At most {limits.max_header_lines} header lines are allowed."
        )
    headers = request_headers(head)
    if len(headers) != lines:
        # llhttp refuses folded lines and bare line feeds; were it ever to let one pass, it would show here.
        raise HeadError(400, "bad-head", "Malformed request head: its lines are not one header each.")
    fields = _control_fields(headers)
    _check_host(fields.get(b"host"), http10=http10)
    if not fields.get(b"upgrade", b"h2c").startswith(b"h2c"):
        # An offer of h2c may be ignored (RFC 9110 section 7.8) and must be: Java's client makes it to every plain address.
        message = "This port speaks HTTP/1.1 only: upgrades, such as to WebSockets, are not offered."
        raise HeadError(501, "upgrade-refused", message)
    request = Request(
        method=method,
        target=target,
        path=target.partition("?")[0],
        headers=[header for header in headers if header[0] != b"content-length"],
        keep_alive=_keep_alive(fields.get(b"connection"), http10=http10),
        peer=peer,
        http10=http10,
    )
    return RequestHead(request, _body_bytes(fields, http10=http10), _expects_continue(fields, http10=http10))


def _control_fields(headers: HeaderList) -> dict[bytes, bytes]:
    """The few headers that steer a connection, in lower case, repeated ones joined by commas."""
    fields: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _CONTROL:
            if name in fields:
                if name in _ONCE:
                    raise HeadError(400, "repeated-header", f"{_ONCE[name]} must not be repeated.")
                fields[name] += b"," + value.lower()
            else:
                fields[name] = value.lower()
    return fields


def _request_line(head: bytes, limits: InboundLimits) -> tuple[str, str, bool]:
    """Method, target in origin form, and whether the version is 1.0."""
    line = head[: head.index(b"\r\n")]
    parts = line.split(b" ")
    if len(parts) != 3:
        if len(line) > limits.max_target_bytes:
            raise _target_too_long(limits)
        raise HeadError(
            400,
            "bad-request-line",
            "A request line is method, target and version, with one blank between each.",
        )
    method, target, version = parts
    if version not in _VERSIONS:
        if version.startswith(b"HTTP/"):
            raise HeadError(505, "unsupported-version", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
        raise HeadError(
            400, "bad-request-line", "The version of a request line must be HTTP/1.1 or HTTP/1.0."
        )
    if len(target) > limits.max_target_bytes:
        raise _target_too_long(limits)
    if method == b"CONNECT":
        raise HeadError(405, "method-not-allowed", "CONNECT is not offered: this is no forward proxy.")
    if not target.isascii() or not method.isascii():
        raise HeadError(
            400, "bad-request-line", "A request line must be ASCII; other characters are percent-encoded."
        )
    return method.decode(), _origin_form(target.decode()), version == b"HTTP/1.0"


def _origin_form(target: str) -> str:
    """RFC 9112 section 3.2.2: the absolute form must be understood, by clients that take us for a proxy."""
    if target[:1] == "/" or target == "*":
        return target
    scheme, separator, rest = target.partition("://")
    if not separator or scheme.lower() not in {"http", "https"}:
        raise HeadError(400, "bad-target", "The target must be a path that begins with a slash.")
    slash = rest.find("/")
    return rest[slash:] if slash >= 0 else "/"


def _check_host(host: bytes | None, *, http10: bool) -> None:
    if host is None:
        if not http10:
            raise HeadError(400, "missing-host", "HTTP/1.1 requests must have a Host header.")
    elif host.translate(None, _HOST_BYTES):
        raise HeadError(400, "bad-host", "The Host header is not a host name with an optional port.")


def _keep_alive(connection: bytes | None, *, http10: bool) -> bool:
    if connection is None:
        return not http10
    tokens = [token.strip() for token in connection.split(b",")]
    return b"close" not in tokens and (not http10 or b"keep-alive" in tokens)


def _body_bytes(fields: dict[bytes, bytes], *, http10: bool) -> int:
    length = fields.get(b"content-length")
    coding = fields.get(b"transfer-encoding")
    if coding is None:
        if length is None:
            return 0
        if not length.isdigit() or len(length) > _MAX_LENGTH_DIGITS:
            raise HeadError(400, "bad-length", "Content-Length must be a number of bytes.")
        return int(length)
    if length is not None:
        raise HeadError(
            400, "ambiguous-length", "Transfer-Encoding and Content-Length must not come together."
        )
    if http10:
        raise HeadError(400, "bad-transfer-encoding", "HTTP/1.0 has no Transfer-Encoding.")
    if coding != b"chunked":
        raise HeadError(
            501, "unknown-transfer-encoding", "The only transfer coding understood is chunked, once."
        )
    return CHUNKED


def _expects_continue(fields: dict[bytes, bytes], *, http10: bool) -> bool:
    expect = fields.get(b"expect")
    if expect is None:
        return False
    if expect != b"100-continue":
        raise HeadError(417, "unknown-expectation", "The only expectation understood is 100-continue.")
    return not http10


def _target_too_long(limits: InboundLimits) -> HeadError:
    return HeadError(
        414, "target-too-long", f"The target must not be longer than {limits.max_target_bytes} bytes."
    )


def _head_too_long(limits: InboundLimits) -> HeadError:
    return HeadError(
        431, "head-too-long", f"The head of a request must not be longer than {limits.max_head_bytes} bytes."
    )
