"""The last decisions and their outcomes, by request id, for whoever asks why."""

from collections import OrderedDict
from collections.abc import Iterator

import msgspec

from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision
from forebay.telemetry.observer import Passage

MAX_TRIES = 16
"""Tries kept of one request. Retries are few; this bounds a client that repeats one request id."""


class Story(msgspec.Struct, gc=False):
    """One request: its decisions in order, one per try, and its outcome once there is one."""

    decisions: list[Decision]
    outcome: Outcome | None = None


class DecisionLog:
    """A bounded memory of decisions, oldest forgotten first.

    `requests` bounds how many requests are kept. `candidates` bounds the memory of large pools, whose decisions each hold
    several numbers per endpoint: 262,144 candidates with five numbers of 8 bytes are 10 MB.
    """

    def __init__(self, requests: int = 4096, candidates: int = 262_144) -> None:
        self._requests = requests
        self._candidates = candidates
        self._stories: OrderedDict[str, Story] = OrderedDict()
        self._kept = 0

    def decided(self, decision: Decision) -> None:
        """Remember a decision. A first try under a known id begins a new story."""
        stories, request_id = self._stories, decision.request_id
        story = stories.get(request_id)
        if story is not None and decision.try_ and len(story.decisions) < MAX_TRIES:
            story.decisions.append(decision)
        else:
            if story is not None:
                self._forget(request_id)
            stories[request_id] = Story([decision])
        self._kept += _weight(decision)
        while stories and (len(stories) > self._requests or self._kept > self._candidates):
            self._forget(next(iter(stories)))

    def ended(self, outcome: Outcome) -> None:
        """Remember how it ended, if its decisions are still known."""
        story = self._stories.get(outcome.request_id)
        if story is not None:
            story.outcome = outcome

    def served(self, passage: Passage) -> None:
        """Nothing to remember: the outcome tells more."""

    def find(self, request_id: str) -> Story | None:
        """Return what is known of that request, None when nothing is, or no longer."""
        return self._stories.get(request_id)

    def newest_first(self) -> Iterator[Story]:
        """Every story that is kept; the one whose last first try was last comes first."""
        return reversed(self._stories.values())

    def __len__(self) -> int:
        return len(self._stories)

    def _forget(self, request_id: str) -> None:
        for decision in self._stories.pop(request_id).decisions:
            self._kept -= _weight(decision)


def _weight(decision: Decision) -> int:
    return len(decision.placement.candidates) or 1
