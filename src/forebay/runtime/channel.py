"""A channel between two processes of one gateway: whole messages over a socket pair, in order."""

import asyncio
from collections.abc import Callable
from typing import cast

LENGTH_BYTES = 4
# A plan of ten thousand endpoints is 5 MB. More than this is a fault, and must not fill the memory.
MOST_BYTES = 64 * 1024 * 1024
# Above it the other side is slow, and `room` is False.
HIGH_WATER_BYTES = 1024 * 1024


class Channel(asyncio.Protocol):
    """One end. `received` is told each message, `lost` once that there is no other end any more.

    `send` never waits. Whoever sends what may be old by the time it is read looks at `room` first, and is told by `eased`
    when there is room again.
    """

    def __init__(
        self,
        received: Callable[[bytes], None],
        lost: Callable[[], None],
        eased: Callable[[], None] = lambda: None,
    ) -> None:
        self.room = False  # until it is connected
        self._received = received
        self._lost = lost
        self._eased = eased
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def send(self, message: bytes) -> None:
        """Send a message. Into a lost channel it is dropped. Raises ValueError for one that is too long."""
        if len(message) > MOST_BYTES:
            raise ValueError(f"a message of {len(message)} bytes is too long")
        if self._transport is not None:
            self._transport.writelines((len(message).to_bytes(LENGTH_BYTES, "little"), message))

    def close(self) -> None:
        """Close this end. What was sent before still goes out."""
        if self._transport is not None:
            self._transport.close()

    # --- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is there."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by type
        self._transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        self.room = True

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        buffer = self._buffer
        buffer += data
        begin = 0
        while len(buffer) - begin >= LENGTH_BYTES:
            length = int.from_bytes(buffer[begin : begin + LENGTH_BYTES], "little")
            if length > MOST_BYTES:
                self.close()
                break
            end = begin + LENGTH_BYTES + length
            if len(buffer) < end:
                break
            self._received(bytes(buffer[begin + LENGTH_BYTES : end]))
            begin = end
        del buffer[:begin]

    def pause_writing(self) -> None:
        """The other side is slow."""
        self.room = False

    def resume_writing(self) -> None:
        """It has caught up."""
        self.room = True
        self._eased()

    def connection_lost(self, error: Exception | None) -> None:
        """The other end is closed, or its process is dead."""
        del error
        self.room = False
        self._transport = None
        self._lost()
