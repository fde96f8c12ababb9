"""Attempts, how they end, and what is told of a request when it is over."""

import enum

import msgspec


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One try of one stage of a request. A one-stage request has stage 0 only; the first try is 0."""

    request_id: str
    stage: int = 0
    try_: int = 0


class FailureKind(enum.StrEnum):
    """Why an attempt failed. What each kind means for the endpoint and the client is policy (admission)."""

    CONNECT = "connect"  # no connection: refused, unreachable, timed out
    RESET = "reset"  # the connection broke, or closed before the reply was whole
    PROTOCOL = "protocol"  # the reply is not HTTP, or breaks its own framing
    FIRST_CONTENT_TIMEOUT = "first-content-timeout"
    IDLE_TIMEOUT = "idle-timeout"
    TOTAL_TIMEOUT = "total-timeout"
    DRAIN_TIMEOUT = "drain-timeout"
    TRUNCATED = "truncated"  # a clean end of the stream before its last event
    STREAM_ERROR = "stream-error"  # an error event inside a 200 stream
    RATE_LIMITED = "rate-limited"  # 429
    SERVER_STATUS = "server-status"  # 408 and 5xx
    CLIENT_STATUS = "client-status"  # any other 4xx: the request's own fault


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens of a finished or broken-off reply. `reported` tells the engine's own count from our count of deltas."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reported: bool = False


class Ending(enum.StrEnum):
    """The named endings. Every request has exactly one."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REJECTED = "rejected"


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """Told once per request, after its last attempt. Durations are microseconds since arrival, 0 if never reached."""

    request_id: str
    ending: Ending
    reason: str
    model: str
    endpoint: str
    tries: int
    usage: Usage
    ttft_us: int
    e2e_us: int
