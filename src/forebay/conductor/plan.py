"""The plan: which pools there are, and by which rules each is run. Built by config/, never changed in place."""

import msgspec

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.admission.retry import RetrySettings
from forebay.domain.endpoint import Endpoint
from forebay.estimators.residency import ResidencySettings
from forebay.placement.profile import Profile


class PoolPlan(msgspec.Struct, frozen=True):
    """One pool: replicas serving one model, and the policies that rule it.

    `model` is the name that the engines serve; `aliases` are further names that clients may use for it; `adapters` are LoRA
    adapters of it, each a name of its own that the engines know. `expected_output_tokens`
    stands in for a length that the client left open, until lengths are learned.
    """

    model: str
    aliases: tuple[str, ...]
    endpoints: tuple[Endpoint, ...]
    profile: Profile
    retry: RetrySettings = RetrySettings()
    breaker: BreakerSettings = BreakerSettings()
    queue: QueueSettings = QueueSettings()
    residency: ResidencySettings = ResidencySettings()
    slow_start_seconds: float = 30.0
    expected_output_tokens: int = 200
    adapters: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that clients may use, the served one first."""
        return (self.model, *self.aliases, *self.adapters)

    def engine_name(self, name: str) -> str:
        """What the engines call what a client calls `name`."""
        return self.model if name in self.aliases else name


class Plan(msgspec.Struct, frozen=True):
    """A version of the whole: pools by their served model."""

    version: int
    pools: tuple[PoolPlan, ...]
