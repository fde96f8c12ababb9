"""What the runner asks of the load generator, and what it hears back. Plain JSON lines between two processes."""

from typing import Literal

import msgspec

Kind = Literal["text", "image", "stream"]


class Load(msgspec.Struct, frozen=True):
    """One piece of load: which requests, how many, how fast."""

    kind: Kind
    requests: int
    """How many requests are sent in all."""
    connections: int
    """Closed loop: this many keep-alive connections, each with one request in flight. Open loop: how many to open first."""
    size: int = 1024
    """`text`, `stream`: bytes of the body. `image`: pixels a side."""
    variants: int = 8
    """How many different bodies are cycled through."""
    chunks: int = 1
    """`stream`: content chunks of each answer."""
    interval_us: int = 0
    """`stream`: time between two chunks."""
    rate: float = 0.0
    """Requests a second of the open loop; 0 means closed loop."""

    @property
    def units(self) -> int:
        """How many of the things that a case counts are sent: content chunks of streams, else requests."""
        return self.requests * (self.chunks if self.kind == "stream" else 1)


class Job(msgspec.Struct, frozen=True):
    """A load and the addresses that it goes to; connection i uses address i modulo their number."""

    load: Load
    ports: list[int]
    """TCP ports on 127.0.0.1."""
    hold: bool = False
    """`stream` only: stop when every stream has shown its role chunk, stay until told, then hang up."""
    limit_seconds: float = 60.0
    """Answers that have not come by then count as wrong."""


class Result(msgspec.Struct):
    """What the load generator saw."""

    done: int = 0
    """Requests whose whole answer came and was right."""
    wrong: int = 0
    """Requests that failed, or whose answer lacked or changed something."""
    request_rewritten: int = 0
    """Right answers to a request whose body the router had written anew: other bytes, the same content."""
    answer_rewritten: int = 0
    """Right answers whose body came as other bytes with the same meaning."""
    reconnects: int = 0
    """Connections that the router closed between two requests."""
    wall_seconds: float = 0.0
    latencies_us: list[int] = msgspec.field(default_factory=list)
    """Open loop: from the first byte sent to the last byte of the answer."""
    first_wrong: str = ""
    """What was wrong with the first wrong answer, for people."""
