"""Every number of the HTTP floor of the gateway's listeners, with its unit and its reason."""

import msgspec

from forebay.domain.bounds import AtLeastOne, Count, NotNegative, Positive

KIB = 1024
MIB = 1024 * KIB


class InboundLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client may ask of one listener. All times are checked every `sweep_seconds`, so they end up to that much late."""

    max_head_bytes: AtLeastOne = 32 * KIB
    """Request line and header lines together; over: 431. Browsers and SDKs stay under 8 KiB, long JWTs under 16."""
    max_header_lines: AtLeastOne = 100
    """Header lines of one request; over: 431. nginx and Apache allow 100."""
    max_target_bytes: AtLeastOne = 8 * KIB
    """Path and query; over: 414. RFC 9112 section 3 asks for at least 8,000 octets."""
    max_body_bytes: AtLeastOne = 32 * MIB
    """Of one request; over: 413 before reading on. Bounds one stall of the loop: 3 MB take it about 1 ms to understand."""
    head_timeout_seconds: Positive = 10.0
    """From the first byte of a head (or the opening of the connection) to its last byte; over: 408. One byte at a time
    does not extend it."""
    idle_timeout_seconds: Positive = 75.0
    """A kept-alive connection without a request. Longer than the 60 s of common load balancers, so that they close first."""
    min_body_bytes_per_second: AtLeastOne = KIB
    """Mean rate below which an upload is given up with 408; a 3 MB picture over a 56k modem is seven times faster."""
    body_grace_seconds: NotNegative = 10.0
    """An upload may be slower than that for so long: TCP start-up, a client that encodes as it goes."""
    send_timeout_seconds: Positive = 60.0
    """A client that takes no byte of what is waiting for it for so long is cut off."""
    linger_seconds: NotNegative = 5.0
    """After a refusal the client may still be sending: what it sends is thrown away for so long, so that it can read the
    answer instead of a connection reset."""
    linger_bytes: Count = 8 * MIB
    """And at most so much of it."""
    max_connections: AtLeastOne = 20_480
    """Open client connections of this process; over: 503 at once. Twice the 10,000 streams that one process is sized for."""
    max_connections_per_address: AtLeastOne = 10_240
    """From one client address, so that one cannot take all; generous, because a load balancer in front is one address."""
    max_pipelined_bytes: Count = 16 * KIB
    """Bytes of later requests that may come while one is being answered; over: the connection is cut off. Pausing its
    reading would hide that its client has left, and no client sends so much ahead."""
    max_buffered_bytes: AtLeastOne = 512 * MIB
    """Bodies held by this process; above it reading pauses, but for one upload when all others wait (`BufferBudget`)."""
    buffer_wait_seconds: Positive = 30.0
    """An upload paused for want of room is refused with 503 after so long: engines that are slow to take what is held
    would keep it waiting for ever."""
    sweep_seconds: Positive = 0.5
    """How often the times above are looked at: one pass over all connections, 0.1 us each."""
