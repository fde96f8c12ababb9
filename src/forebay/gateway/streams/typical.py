"""The event that a stream repeats with another piece of text each time, known by its bytes and not parsed again.

Almost every event of a stream differs from the one before only inside one JSON string. Once such an event was parsed,
the next with the same bytes around that string has the same structure, as long as the string holds no quote and does
not end in a backslash: then it can neither end early nor run on.
"""

import re
from typing import NamedTuple

# The strings that carry a piece of an answer or of its reasoning, in the APIs known here.
_PIECE = re.compile(rb'"(content|text|reasoning|reasoning_content|thinking)" ?: ?"([^"\\]+)"')
_REASONING_KEYS = frozenset([b"reasoning", b"reasoning_content", b"thinking"])
_BACKSLASH = 0x5C
# Templates that in a row matched nothing: then the stream varies elsewhere too, and learning is wasted on it.
_MAX_BARREN = 8


class TypicalEvent(NamedTuple):
    """The bytes before and after the piece, as the engine writes them and as the client sees them."""

    head: bytes
    tail: bytes
    shown_head: bytes
    shown_tail: bytes
    is_reasoning: bool

    def shown(self, event: bytes) -> bytes | None:
        """What the client sees of `event`, or None when it is not of this form."""
        head, tail, shown_head, shown_tail, _ = self
        if not event.endswith(tail) or not event.startswith(head):
            return None
        piece = event[len(head) : -len(tail)]
        if not piece or b'"' in piece or piece[-1] == _BACKSLASH:
            return None
        return event if head is shown_head else shown_head + piece + shown_tail


class TypicalEvents:
    """Learns the typical event of one stream. `current` is None while none is known."""

    __slots__ = ("_barren", "_hits_at_learning", "current", "hits")

    def __init__(self) -> None:
        self.current: TypicalEvent | None = None
        self.hits = 0
        self._hits_at_learning = 0
        self._barren = 0

    def learn(self, event: bytes, shown: bytes) -> None:
        """Take `event`, which was parsed and holds one piece and nothing else to count, as the typical one."""
        self._barren = self._barren + 1 if self.hits == self._hits_at_learning else 0
        if self._barren > _MAX_BARREN:
            self.current = None
            return
        self._hits_at_learning = self.hits
        pieces = list(_PIECE.finditer(event))
        if len(pieces) != 1:
            return
        piece = pieces[0]
        head, tail = event[: piece.start(2)], event[piece.end(2) :]
        shown_head, shown_tail = head, tail
        if shown is not event:
            ours = _PIECE.search(shown)
            assert ours is not None
            shown_head, shown_tail = shown[: ours.start(2)], shown[ours.end(2) :]
        self.current = TypicalEvent(head, tail, shown_head, shown_tail, piece[1] in _REASONING_KEYS)
