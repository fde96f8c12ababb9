"""The last decisions and their outcomes, by request id, for whoever asks why."""

from collections import OrderedDict

import msgspec

from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision
from forebay.telemetry.observer import Passage

MAX_TRIES = 16
"""Tries kept of one request. Retries are few; this bounds a client that repeats one request id."""


class Story(msgspec.Struct):
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
        story = self._stories.get(decision.request_id)
        if story is None or not decision.try_ or len(story.decisions) >= MAX_TRIES:
            self._forget(decision.request_id)
            story = self._stories[decision.request_id] = Story([])
        story.decisions.append(decision)
        self._kept += _weight(decision)
        while self._stories and (len(self._stories) > self._requests or self._kept > self._candidates):
            self._forget(next(iter(self._stories)))

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

    def __len__(self) -> int:
        return len(self._stories)

    def _forget(self, request_id: str) -> None:
        story = self._stories.pop(request_id, None)
        if story is not None:
            self._kept -= sum(_weight(decision) for decision in story.decisions)


def _weight(decision: Decision) -> int:
    return max(1, len(decision.placement.candidates))
