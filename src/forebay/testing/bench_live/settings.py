"""What a live bench is given."""

from typing import Any

import msgspec

from forebay.config.errors import ConfigError
from forebay.simulator.engine.engine import EngineSettings
from forebay.simulator.scenario import Scenario
from forebay.simulator.world import Overheads


class LiveSettings(msgspec.Struct, frozen=True):
    """A scenario under some profiles. `slowdown` stretches time; `chunk_tokens` are the tokens of one piece of a stream.

    It is simulated `simulations` times, to know what chance alone does.
    """

    scenario: Scenario
    profiles: tuple[str | dict[str, Any], ...]
    seed: int = 1
    slowdown: float = 3.0
    chunk_tokens: int = 8
    simulations: int = 20

    @property
    def stretched(self) -> Scenario:
        """The scenario in the time that both sides run in: all but the arrivals of its visits, which are yet to be drawn."""
        scenario, by = self.scenario, self.slowdown
        fleet = tuple(msgspec.structs.replace(group, slower=group.slower * by) for group in scenario.fleet)
        return msgspec.structs.replace(scenario, fleet=fleet, signals_seconds=scenario.signals_seconds * by)

    @property
    def overheads(self) -> Overheads:
        """Of an engine's API, in that time."""
        usual = Overheads()
        return Overheads(
            usual.first_token * self.slowdown,
            usual.output_token * self.slowdown,
            usual.request * self.slowdown,
        )


def engine_settings(scenario: Scenario) -> EngineSettings:
    """How each engine is set up."""
    return EngineSettings(
        encoder_cache_items=scenario.caches.encoder_items,
        prefix_caching=scenario.caches.prefix,
        preemption=scenario.preemption,
        coalesce=False,
    )


def check(scenario: Scenario) -> None:
    """Raises ConfigError for what cannot be done live."""
    if scenario.gateways > 1:
        raise ConfigError(scenario.name, "it has several gateways", "take a scenario with one")
    if scenario.incidents:
        raise ConfigError(scenario.name, "it has incidents", "take a scenario without")


def for_seconds(scenario: Scenario, seconds: float | None) -> Scenario:
    """The scenario with arrivals for so long, in its own time. Raises ConfigError for a closed loop."""
    if seconds is None:
        return scenario
    if scenario.arrivals is None:
        raise ConfigError("--seconds", f"{scenario.name} is a closed loop", "leave --seconds out")
    requests = max(1, round(seconds * scenario.arrivals.rate_per_second))
    return msgspec.structs.replace(scenario, requests=requests)
