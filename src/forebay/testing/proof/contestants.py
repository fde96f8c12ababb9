"""The policies that are compared: a profile, and how fresh its signals are."""

from dataclasses import dataclass

from forebay.placement.catalogue import PROFILES
from forebay.simulator.run import Choice


@dataclass(frozen=True)
class Contestant:
    """`signals_seconds` of None is the scenario's own. One that `sees_future` is a yardstick, and beats nobody."""

    name: str
    choice: Choice
    signals_seconds: float | None = None
    sees_future: bool = False


FRESH = "queue-kv 50 ms"
"""Its own default is to scrape twenty times a second; the name alone stands for the scenario's 500 ms."""


def contestants() -> tuple[Contestant, ...]:
    """Every profile of the catalogue, and queue-kv with fresh signals."""
    return (
        *(Contestant(name, name) for name in PROFILES),
        Contestant(FRESH, "queue-kv", signals_seconds=0.05),
    )
