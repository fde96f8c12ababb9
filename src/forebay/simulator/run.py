"""A scenario, a profile and a seed: one run, and its result. Pure: the same three give the same result, in any process."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from forebay.conductor.conductor import Conductor
from forebay.conductor.plan import Plan, PoolPlan
from forebay.config.document import Document
from forebay.config.shapes import convert, named
from forebay.domain.endpoint import Endpoint
from forebay.placement.catalogue import PROFILES
from forebay.placement.profile import Profile
from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.shape import MODELS
from forebay.simulator.engine.steps import StepModel
from forebay.simulator.replica import Replica
from forebay.simulator.results import Result, result_of
from forebay.simulator.scenario import Incident, Scenario
from forebay.simulator.visits import Visit
from forebay.simulator.workloads.draw import visits_of
from forebay.simulator.workloads.requests import MODEL
from forebay.simulator.world import Overheads, World, WorldSettings

OVERHEADS = Overheads()

Makes: TypeAlias = Callable[[Sequence[Visit]], Profile]
Choice: TypeAlias = str | Mapping[str, Any] | Makes
"""A profile: its name, a mapping with `name` and its parameters, or a function that makes one and sees the future."""

Tell: TypeAlias = Callable[[int, int], None]


def run(scenario: Scenario, profile: Choice, seed: int, tell: Tell | None = None) -> Result:
    """One run. `tell` hears now and then how many requests have ended, of how many. Raises ConfigError for the profile."""
    visits = visits_of(scenario, seed)
    world = world_of(scenario, profile, seed, visits)
    stories = world.run(tell)
    return result_of(scenario, name_of(profile), seed, visits, stories, world)


def world_of(
    scenario: Scenario,
    profile: Choice,
    seed: int,
    visits: Sequence[Visit],
    overheads: Overheads = OVERHEADS,
) -> World:
    """The world of a run, ready to run: a fleet of engines with these overheads, and a conductor for each gateway."""
    endpoints = tuple(
        Endpoint(slot, f"e{slot}", f"http://e{slot}", device=Path(device).stem)
        for slot, device in enumerate(scenario.devices)
    )
    late = {one.endpoint for one in scenario.incidents if one.what == "join"}
    slower = [group.slower for group in scenario.fleet for _ in range(group.count)]
    replicas = []
    for endpoint in endpoints:
        device = scenario.devices[endpoint.slot]
        replica = Replica(endpoint, _engine(scenario, device, slower[endpoint.slot]), [MODEL])
        replica.alive = endpoint.slot not in late
        replicas.append(replica)
    conductors = [
        Conductor(
            _plan(scenario, endpoints, profile, visits), seed=seed, worker=number, workers=scenario.gateways
        )
        for number in range(scenario.gateways)
    ]
    settings = WorldSettings(
        signals_seconds=scenario.signals_seconds, peers_seconds=scenario.peers_seconds, overheads=overheads
    )
    world = World(replicas, conductors, visits, settings, clients=scenario.clients)
    for incident in scenario.incidents:
        _plan_incident(world, incident)
    return world


def name_of(profile: Choice) -> str:
    """What tables call it: its name, and the parameters that are not the defaults."""
    if isinstance(profile, str):
        return profile
    if isinstance(profile, Mapping):
        given = ",".join(f"{key}={value}" for key, value in profile.items() if key != "name")
        return f"{profile.get('name', '')}:{given}" if given else str(profile.get("name", ""))
    return profile.__name__.replace("_", "-")


def profile_of(profile: Choice, visits: Sequence[Visit] = ()) -> Profile:
    """A profile of its own for each conductor, as its picker may remember. Raises ConfigError."""
    if callable(profile):
        return profile(visits)
    document = Document.of({}, "profile")
    name, settings = named(document, "$", profile if isinstance(profile, str) else dict(profile), PROFILES)
    recipe = PROFILES[name]
    return recipe.build(convert(settings, recipe.settings, document, "$"))


def _plan(
    scenario: Scenario, endpoints: tuple[Endpoint, ...], profile: Choice, visits: Sequence[Visit]
) -> Plan:
    pool = PoolPlan(
        MODEL, (), endpoints, profile_of(profile, visits), slow_start_seconds=scenario.slow_start_seconds
    )
    return Plan(1, (pool,))


def _engine(scenario: Scenario, device: str, slower: float) -> Engine:
    steps = StepModel(load_device(device), MODELS[scenario.model], slower)
    settings = EngineSettings(
        encoder_cache_items=scenario.caches.encoder_items,
        prefix_caching=scenario.caches.prefix,
        preemption=scenario.preemption,
    )
    return Engine(steps, settings)


def _plan_incident(world: World, incident: Incident) -> None:
    acts = {
        "slow-down": lambda: world.slow_down(incident.endpoint, incident.factor),
        "lose": lambda: world.lose(incident.endpoint),
        "join": lambda: world.join(incident.endpoint),
    }
    world.at(incident.at_seconds, acts[incident.what])
