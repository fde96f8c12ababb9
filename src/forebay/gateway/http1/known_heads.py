"""Request heads that were parsed before: a client sends the same one again and again, but for its body's length."""

import re

from forebay.gateway.http1.limits import InboundLimits
from forebay.gateway.http1.request_head import RequestHead, parse

MAX_HEADS = 512
"""Of one listener: for each about twice its bytes are kept."""
_MAX_BYTES = 4096
_LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: ([0-9]{1,18})\r\n")


class KnownHeads:
    """Parses heads, and remembers those that are right. Two that differ in their lengths' digits only are parsed once.

    Every rule of `parse` looks at other bytes than these digits, except the bound on the size, which is asked here.
    """

    __slots__ = ("_known", "_limits", "_max_bytes")

    def __init__(self, limits: InboundLimits) -> None:
        self._limits = limits
        self._max_bytes = min(limits.max_head_bytes, _MAX_BYTES)
        self._known: dict[tuple[str, bytes], RequestHead] = {}

    def parse(self, head: bytes, peer: str) -> RequestHead:
        """What `parse` gives. Raises HeadError."""
        length = _LENGTH.search(head) if len(head) <= self._max_bytes else None
        if length is None:
            return parse(head, peer, self._limits)
        start, stop = length.span(1)
        key = (peer, head[:start] + head[stop:])
        known = self._known.get(key)
        if known is not None:
            return RequestHead(known.request, int(length[1]), known.expects_continue)
        parsed = parse(head, peer, self._limits)
        if len(self._known) >= MAX_HEADS:
            del self._known[next(iter(self._known))]
        self._known[key] = parsed
        return parsed
