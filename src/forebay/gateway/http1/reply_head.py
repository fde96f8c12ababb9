"""The head of an engine's reply, and where its body ends."""

import enum

import httptools

from forebay.gateway.http1.chunked import ChunkedDecoder, ChunkError
from forebay.gateway.http1.head import HeaderCollector, HeadError
from forebay.gateway.http1.message import HeaderList

_HTTP_1_0 = b"HTTP/1.0"


class Framing(enum.Enum):
    """How a reply's body ends."""

    LENGTH = enum.auto()
    CHUNKS = enum.auto()
    UNTIL_CLOSE = enum.auto()


class ReplyBody:
    """A body on its way. `complete` is never true for one that ends when the connection closes."""

    __slots__ = ("_decoder", "_left", "complete", "framing", "rest")

    def __init__(self, framing: Framing, length: int = 0) -> None:
        self.framing = framing
        self.rest = b""
        self.complete = framing is Framing.LENGTH and length == 0
        self._left = length
        self._decoder = ChunkedDecoder() if framing is Framing.CHUNKS else None

    def feed(self, data: bytes) -> bytes:
        """Body bytes in `data`. What follows a complete body is kept in `rest`. Raises HeadError for broken chunks."""
        if self._decoder is not None:
            return self._chunks(self._decoder, data)
        if self.framing is Framing.UNTIL_CLOSE:
            return data
        if len(data) >= self._left:
            self.complete = True
            data, self.rest = data[: self._left], data[self._left :]
        self._left -= len(data)
        return data

    def _chunks(self, decoder: ChunkedDecoder, data: bytes) -> bytes:
        try:
            payload = decoder.feed(data)
        except ChunkError as fault:
            raise HeadError(502, "bad-chunks", f"the reply's chunks are broken: {fault}") from None
        self.complete, self.rest = decoder.done, decoder.rest
        return payload


def parse_reply_head(head: bytes) -> tuple[int, HeaderList, bool]:
    """Status, headers, and whether the connection may be kept. Raises HeadError."""
    collector = HeaderCollector()
    parser = httptools.HttpResponseParser(collector)
    try:
        parser.feed_data(head)
    except (httptools.HttpParserError, httptools.HttpParserUpgrade) as fault:
        raise HeadError(502, "bad-head", f"the reply's head is malformed: {fault}") from None
    status, headers = parser.get_status_code(), collector.headers
    tokens = {
        token.strip().lower()
        for name, value in headers
        if name == b"connection"
        for token in value.split(b",")
    }
    keep = b"close" not in tokens and (not head.startswith(_HTTP_1_0) or b"keep-alive" in tokens)
    return status, headers, keep


def framing_of(status: int, headers: HeaderList, *, head_only: bool) -> ReplyBody:
    """Where the body of a reply with this head ends (RFC 9112 section 6.3). Raises HeadError when that is ambiguous."""
    if head_only or status in {204, 304}:
        return ReplyBody(Framing.LENGTH, 0)
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    lengths = {value for name, value in headers if name == b"content-length"}
    if codings:
        if codings != [b"chunked"] or lengths:
            raise HeadError(502, "bad-framing", "the reply's framing is ambiguous")
        return ReplyBody(Framing.CHUNKS)
    if not lengths:
        return ReplyBody(Framing.UNTIL_CLOSE)
    length = lengths.pop()
    if lengths or not length.isdigit():
        raise HeadError(502, "bad-framing", "the reply's content-length is not one number")
    return ReplyBody(Framing.LENGTH, int(length))
