"""The policies that are compared: a profile, and what is otherwise in the scenario when it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from forebay.placement.catalogue import PROFILES
from forebay.simulator.oracle import oracle
from forebay.simulator.run import Choice
from forebay.simulator.scenario import Scenario


@dataclass(frozen=True)
class Contestant:
    """`changes` are fields of the scenario that it runs under."""

    name: str
    choice: Choice
    changes: Mapping[str, Any] = field(default_factory=dict)

    def within(self, scenario: Scenario) -> Scenario:
        """The scenario as it runs under it."""
        return msgspec.structs.replace(scenario, **self.changes)


FRESH = "queue-kv 50 ms"
"""Its own default is to scrape twenty times a second; the name alone stands for the scenario's 500 ms."""


def contestants() -> tuple[Contestant, ...]:
    """Every profile of the catalogue, queue-kv with fresh signals, and the oracle, which is a yardstick and no rival."""
    return (
        *(Contestant(name, name) for name in PROFILES),
        Contestant(FRESH, "queue-kv", {"signals_seconds": 0.05}),
        Contestant(ORACLE, oracle),
    )


ORACLE = "greedy oracle"
"""It knows how long each answer will be."""

ALONE = "alone"
LATE = "peers 200 ms"
STALE = "queue-kv 200 ms"


def gateways(subject: str) -> tuple[Contestant, ...]:
    """Those that only the case of several gateways needs: ours as one gateway, ours with late peers, and a rival as stale."""
    return (
        Contestant(ALONE, subject, {"gateways": 1}),
        Contestant(LATE, subject, {"peers_seconds": 0.200}),
        Contestant(STALE, "queue-kv", {"signals_seconds": 0.200, "peers_seconds": 0.200}),
    )


NO_RIVALS = frozenset([ORACLE, ALONE, LATE])
"""Those that see the future, and those that are ours under other circumstances."""
