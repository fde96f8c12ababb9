"""Decoder of the chunked transfer coding (RFC 9112 section 7.1), strict, and exact about where the body ends.

llhttp's binding does not tell at which byte a message ended, and the bytes after it belong to the next request.
"""

MAX_LINE_BYTES = 1024
"""Of a chunk's size line with its extensions: longer ones only serve to burn time (CVE-2023-39326)."""
MAX_TRAILER_BYTES = 8 * 1024
"""Of all trailer lines, which nobody reads."""

MIN_MEAN_BYTES = 16
"""Of chunk sizes, once MAX_SMALL_CHUNKS have come: each costs 1.5 us, so that single bytes would hold a loop for 16 ms a read."""
MAX_SMALL_CHUNKS = 4096

_HEX = b"0123456789abcdefABCDEF"
_MAX_SIZE_DIGITS = 15  # below 2**60
# What comes next; plain integers, because comparing members of an enum doubles the cost of a chunk.
_SIZE, _PAYLOAD, _CLOSE, _TRAILER = range(4)


class ChunkError(ValueError):
    """The chunked framing is broken. The message never holds what the peer sent."""


class ChunkedDecoder:
    """Feed it what arrives; it returns body bytes. After `done`, `rest` is what came after the body. Trailers are dropped."""

    __slots__ = ("_chunks", "_expect", "_held", "_left", "_payload_bytes", "_trailer_bytes", "done", "rest")

    def __init__(self) -> None:
        self._expect = _SIZE
        self._held = b""  # an incomplete line
        self._left = 0  # payload bytes to come of the current chunk
        self._chunks = 0
        self._payload_bytes = 0
        self._trailer_bytes = 0
        self.done = False
        self.rest = b""

    def feed(self, data: bytes) -> bytes:
        """Body bytes in `data`. Raises ChunkError; must not be called after `done`."""
        if self._held:
            data = self._held + data
            self._held = b""
        pieces: list[bytes] = []
        at = 0
        while at < len(data) and not self.done:
            if self._expect == _PAYLOAD:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                if not self._left:
                    self._expect = _CLOSE
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                self._hold(data[at:])
                break
            self._line(data[at:end])
            at = end + 2
        if self.done:
            self.rest = data[at:]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _line(self, line: bytes) -> None:
        if self._expect == _CLOSE:
            if line:
                raise ChunkError("a chunk is longer than its size says")
            self._expect = _SIZE
        elif self._expect == _SIZE:
            self._left = _size(line)
            self._expect = _PAYLOAD if self._left else _TRAILER
            self._count_chunk()
        elif line:
            self._trailer_bytes += len(line) + 2
            if self._trailer_bytes > MAX_TRAILER_BYTES or b"\n" in line or b"\r" in line:
                raise ChunkError("the trailer is too long or has a bare line feed")
        else:
            self.done = True

    def _count_chunk(self) -> None:
        self._chunks += 1
        self._payload_bytes += self._left
        if self._chunks > MAX_SMALL_CHUNKS and self._payload_bytes < self._chunks * MIN_MEAN_BYTES:
            raise ChunkError("the chunks are too small")

    def _hold(self, line: bytes) -> None:
        """Keep an incomplete line, unless no continuation could make it right."""
        if self._expect == _CLOSE and line != b"\r":
            raise ChunkError("a chunk is longer than its size says")
        if len(line) > MAX_LINE_BYTES:
            raise ChunkError("a line of the chunked framing is too long")
        self._held = line


def _size(line: bytes) -> int:
    digits, _, extension = line.partition(b";")
    digits = digits.rstrip(b" \t")
    if not digits or len(digits) > _MAX_SIZE_DIGITS or digits.translate(None, _HEX):
        raise ChunkError("a chunk's size is not a hexadecimal number")
    if len(line) > MAX_LINE_BYTES or b"\n" in extension or b"\r" in extension:
        raise ChunkError("a chunk's extension is too long or has a bare line ending")
    return int(digits, 16)
