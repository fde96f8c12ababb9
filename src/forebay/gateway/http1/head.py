"""The lines of a request head: our own checks, then one pass of llhttp over a head whose end is already known."""

import httptools

from forebay.gateway.http1.message import HeaderList

HEAD_END = b"\r\n\r\n"
# How a TLS client begins: a handshake record (22) of version 3.x (RFC 8446, 5.1).
_TLS_HELLO = b"\x16\x03"


class HeadError(ValueError):
    """A head that breaks a rule. `status` and `code` are for the answer; the message never holds what the peer sent."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class HeaderCollector:
    """Takes the header lines from an llhttp parser, in their order, names in lower case."""

    __slots__ = ("headers",)

    def __init__(self) -> None:
        self.headers: HeaderList = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser. llhttp leaves blanks at the end of a value."""
        self.headers.append((name.lower(), value.strip()))


def check_lines(head: bytes | bytearray) -> None:
    """Refuse what smuggles requests past other parsers: a lone CR or LF, a folded line, NUL. `head` may still be growing.

    llhttp refuses the same in a whole head; this tells before its end has come, which after a bare LF may be never.
    """
    if head.startswith(_TLS_HELLO):
        raise HeadError(
            400, "tls-not-spoken", "TLS is not spoken here: use http://, or give the listener a certificate."
        )
    pairs = head.count(b"\r\n")
    if head.count(b"\n") != pairs or head.count(b"\r") - head.endswith(b"\r") != pairs:
        raise HeadError(
            400, "bad-line-ending", "Lines of a head must end with CR LF; a lone CR or LF is not allowed."
        )
    if b"\n " in head or b"\n\t" in head:
        raise HeadError(400, "folded-header", "Header lines must not be folded.")
    if 0 in head:
        raise HeadError(400, "bad-header", "A head must not hold NUL.")


def request_headers(head: bytes) -> HeaderList:
    """Header lines of a whole request head. Raises HeadError (400, or 501 for an unknown method)."""
    collector = HeaderCollector()
    try:
        httptools.HttpRequestParser(collector).feed_data(head)
    except httptools.HttpParserUpgrade:
        pass  # llhttp stops here for CONNECT and Upgrade: every line has been seen, and the caller decides
    except httptools.HttpParserInvalidMethodError:
        raise HeadError(501, "unknown-method", "The request method is not known.") from None
    except httptools.HttpParserError as error:
        raise HeadError(400, "bad-head", f"Malformed request head: {error}.") from None
    return collector.headers
