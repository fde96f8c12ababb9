"""What a second of waiting, and the size of a request, are worth: numbers of the ask alone, worked out once for it."""

from typing import Protocol

from forebay.domain.facts import Ask

# A pool whose first tokens come at once must not become deaf to everything but the wait.
MOST_WAIT_WORTH = 300.0


class PerAsk(Protocol):
    """One number for an ask."""

    def __call__(self, ask: Ask) -> float:
        """The number, > 0."""
        ...


class Once:
    """Remembers the number of the last ask, since each endpoint asks for it in turn."""

    __slots__ = ("_asked", "_number", "_of")

    def __init__(self, of: PerAsk) -> None:
        self._of = of
        self._asked: Ask | None = None
        self._number = 0.0

    def __call__(self, ask: Ask) -> float:
        """The number for this ask."""
        if ask is not self._asked:
            self._asked, self._number = ask, self._of(ask)
        return self._number


def wait_worth(weight: float) -> PerAsk:
    """Seconds of an answer that weigh as much as one second until the first token: 1..300.

    `weight` x mean answer / mean first token: at 1, one percent of the time to the first token weighs as much as one
    percent of the time to the last.
    """

    def worth(ask: Ask) -> float:
        pace = ask.pace
        return min(max(weight * pace.answer_seconds / pace.first_token_seconds, 1.0), MOST_WAIT_WORTH)

    return Once(worth)


def size_worth(exponent: float) -> PerAsk:
    """Seconds that the place of this request in the KV caches is worth: mean answer x (its tokens / mean)^exponent.

    With 0 a request of ten tokens would be sent to and fro for the balance as one of ten thousand.
    """

    def worth(ask: Ask) -> float:
        pace = ask.pace
        return float(pace.answer_seconds * (max(ask.prompt_tokens, 1) / pace.prompt_tokens) ** exponent)

    return Once(worth)
