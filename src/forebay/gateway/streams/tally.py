"""What is counted of one reply, whichever API it speaks."""

from collections.abc import Callable

from forebay.domain.outcome import Usage


def _unheard(_gap_us: int) -> None:
    """Nobody counts gaps."""


class Tally:
    """Running counts of one attempt's reply. Moments are the driver's microseconds, 0 for not yet.

    A delta is one piece of one choice: of content, of reasoning, or of a tool call. `first_delta_at` is the time to
    first token's end, whatever the delta's kind; `first_content_at` the first piece of the answer itself. `deltas` are
    those of every kind: engines send about one token in each.
    """

    __slots__ = (
        "_gap_told_us",
        "_last_delta_at",
        "content_deltas",
        "deltas",
        "first_content_at",
        "first_delta_at",
        "gap_heard",
        "largest_gap_us",
        "reasoning_deltas",
        "reported",
        "tool_deltas",
    )

    def __init__(self) -> None:
        self.deltas = 0
        self.content_deltas = 0
        self.reasoning_deltas = 0
        self.tool_deltas = 0
        self.first_delta_at = 0
        self.first_content_at = 0
        self.largest_gap_us = 0
        self.reported: Usage | None = None
        self.gap_heard: Callable[[int], None] = _unheard
        self._last_delta_at = 0
        self._gap_told_us = 0

    @property
    def usage(self) -> Usage:
        """The engine's own count when it gave one, else the deltas."""
        return self.reported or Usage(completion_tokens=self.deltas)

    @property
    def output_tokens(self) -> int:
        """Tokens out so far: the engine's word, or one for each delta, whichever is more."""
        return max(self.deltas, self.reported.completion_tokens if self.reported else 0)

    def count_piece(self, is_reasoning: bool) -> None:
        """Count a piece of text that is not the first of its kind."""
        self.deltas += 1
        if is_reasoning:
            self.reasoning_deltas += 1
        else:
            self.content_deltas += 1

    def count(self, at: int, *, content: bool, reasoning: bool, tool: bool) -> None:
        """Count the kinds of delta that one choice of one event holds."""
        self.deltas += content + reasoning + tool
        self.content_deltas += content
        self.reasoning_deltas += reasoning
        self.tool_deltas += tool
        if content and not self.first_content_at:
            self.first_content_at = at

    def heard(self, at: int) -> None:
        """A read brought deltas at this moment; those that arrive together have no gap between them."""
        if not self.first_delta_at:
            self.first_delta_at = at
        else:
            gap = at - self._last_delta_at
            self.gap_heard(gap)
            if gap > self._gap_told_us:
                self._gap_told_us = gap
                self.largest_gap_us = max(self.largest_gap_us, gap)
        self._last_delta_at = at

    def take_gap(self) -> int:
        """The largest gap in microseconds since the last call, 0 for none."""
        gap, self._gap_told_us = self._gap_told_us, 0
        return gap
