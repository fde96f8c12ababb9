"""The same visits live, and in the simulator."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forebay.simulator.run import world_of
from forebay.simulator.visits import Story, Visit
from forebay.simulator.workloads.draw import visits_of
from forebay.testing.bench_live.client import Clients
from forebay.testing.bench_live.fleet import serving
from forebay.testing.bench_live.settings import LiveSettings
from forebay.testing.bench_live.wire import body_of, family, read_back
from forebay.testing.modelled import Truth

Profile = str | dict[str, Any]
MOVED_SECONDS = 0.010
"""Of the clock: by so much arrivals differ between two live runs of a busy machine."""


class Seen(NamedTuple):
    """Stories by visit, in the scenario's own seconds.

    Of a live run, in the clock's seconds: how late a visit left at most, and the part of each time to first token that was spent
    neither in an engine nor as its API's overhead, but in this bench, the gateway, and waiting for a core.
    """

    stories: list[Story]
    lateness_seconds: float = 0.0
    outside_seconds: tuple[float, ...] = ()


def visits(settings: LiveSettings) -> list[Visit]:
    """The scenario's visits as they are on the wire, in stretched time."""
    rules = family()
    drawn = visits_of(settings.scenario, settings.seed)
    return [read_back(one, body_of(one), rules, one.at * settings.slowdown) for one in drawn]


def live(settings: LiveSettings, profile: Profile, folder: Path, tell: Callable[[int], None]) -> Seen:
    """Through the gateway, to engines that take the modelled time. Raises RuntimeError or TimeoutError if they do not start."""
    drawn = visits_of(settings.scenario, settings.seed)
    timed = [msgspec.structs.replace(one, at=one.at * settings.slowdown) for one in drawn]
    with serving(settings, profile, folder) as site:
        clients = Clients(site.url, timed, clients=settings.scenario.clients, tell=tell)
        stories = asyncio.run(clients.run())
        outside = _told(stories, clients.began, timed, site.truths(), settings)
    return Seen(_own_time(stories, settings.slowdown), clients.lateness, outside)


def simulated(settings: LiveSettings, profile: Profile, drawn: Sequence[Visit]) -> list[Seen]:
    """In virtual time, several times: what a few milliseconds and other ties change is chance, and live has its own."""
    return [_simulated(settings, profile, drawn, number) for number in range(settings.simulations)]


def _simulated(settings: LiveSettings, profile: Profile, drawn: Sequence[Visit], number: int) -> Seen:
    rng = random.Random(f"{settings.seed} {number}")
    moved = [msgspec.structs.replace(one, at=one.at + rng.uniform(0, MOVED_SECONDS)) for one in drawn]
    world = world_of(settings.stretched, profile, settings.seed + number, moved, settings.overheads)
    return Seen(_own_time(world.run(), settings.slowdown))


def _told(
    stories: Sequence[Story],
    began: float,
    drawn: Sequence[Visit],
    truths: Mapping[str, tuple[int, Truth]],
    settings: LiveSettings,
) -> tuple[float, ...]:
    """Add what the engines know to the stories; the seconds of each that no engine knows of."""
    outside = []
    for story in stories:
        known = truths.get(drawn[story.number].request.request_id)
        if known is not None and story.whole:
            story.slot, truth = known
            story.sent = truth.arrived - began
            overhead = settings.overheads.first_token + settings.overheads.output_token
            outside.append(story.ttft - (truth.first - truth.arrived) - overhead)
    return tuple(outside)


def _own_time(stories: list[Story], slowdown: float) -> list[Story]:
    """Out of stretched time; in the order of the visits."""
    return sorted(
        (
            msgspec.structs.replace(
                one,
                arrived=one.arrived / slowdown,
                first=one.first / slowdown,
                ended=one.ended / slowdown,
                sent=one.sent / slowdown,
            )
            for one in stories
        ),
        key=lambda story: story.number,
    )
