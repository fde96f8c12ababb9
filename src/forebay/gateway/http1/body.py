"""Bodies on their way in: copied once from the kernel when the length is known, decoded when it comes in chunks."""

from forebay.gateway.http1.chunked import ChunkedDecoder

FIRST_BYTES = 64 * 1024
"""Memory given when the first of a body comes. It doubles as bytes arrive: a client's word alone costs nothing, and memory is
never more than this or twice what has come."""


class LengthBody:
    """A body of known length, received straight into its one buffer."""

    __slots__ = ("_length", "buffer", "received")

    def __init__(self, length: int, first: bytes) -> None:
        """`first` is what came with the head; it is shorter than `length`."""
        self._length = length
        self.received = len(first)
        self.buffer = bytearray(first)

    @property
    def complete(self) -> bool:
        """Every announced byte is here."""
        return self.received == self._length

    def room(self) -> memoryview:
        """Where the next bytes go. At least one byte, never past the announced length."""
        buffer = self.buffer
        if self.received == len(buffer):
            if self.received < FIRST_BYTES:
                buffer += bytes(FIRST_BYTES - self.received)
            else:
                buffer *= 2  # in place, and cheaper than appending zeros: the kernel remaps it
            del buffer[self._length :]
        return memoryview(buffer)[self.received :]


class ChunkedBody:
    """A body whose length is told chunk by chunk."""

    __slots__ = ("_decoder", "buffer")

    def __init__(self) -> None:
        self._decoder = ChunkedDecoder()
        self.buffer = bytearray()

    @property
    def received(self) -> int:
        """Body bytes so far."""
        return len(self.buffer)

    @property
    def complete(self) -> bool:
        """The last chunk and its trailers have come."""
        return self._decoder.done

    @property
    def rest(self) -> bytes:
        """What came after the complete body."""
        return self._decoder.rest

    def feed(self, data: bytes) -> None:
        """Add what arrived. Raises ChunkError."""
        self.buffer += self._decoder.feed(data)


class Upload:
    """An unfinished body and its pace."""

    __slots__ = ("_since", "_waiting_since", "body")

    def __init__(self, body: LengthBody | ChunkedBody, now: float) -> None:
        """`now` in seconds of the loop's clock, here and below."""
        self.body = body
        self._since = now
        self._waiting_since: float | None = None

    @property
    def waiting(self) -> bool:
        """Reading is paused for want of room."""
        return self._waiting_since is not None

    def wait(self, now: float) -> None:
        """Reading pauses: not the client's fault, so its pace is not measured."""
        self._waiting_since = now

    def go_on(self, now: float) -> None:
        """Reading goes on."""
        if self._waiting_since is not None:
            self._since += now - self._waiting_since
            self._waiting_since = None

    def too_slow_at(self, grace_seconds: float, min_bytes_per_second: int) -> float:
        """When the mean pace will have fallen below the least, if nothing more comes: received / (t - since) = least."""
        return self._since + max(grace_seconds, self.body.received / min_bytes_per_second)
