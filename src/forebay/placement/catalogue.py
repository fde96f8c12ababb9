"""Every profile by its configured name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forebay.placement.baselines import (
    LeastRequestSettings,
    QueueKvSettings,
    RoundRobinSettings,
    least_request,
    queue_kv,
    round_robin,
)
from forebay.placement.baselines_cache import (
    CacheAwareSettings,
    LeastLoadSettings,
    TokenLoadStickySettings,
    cache_aware,
    least_load,
    token_load_sticky,
)
from forebay.placement.common import CommonSettings
from forebay.placement.multimodal import MultimodalSettings, multimodal
from forebay.placement.power_of_two import PowerOfTwoSettings, power_of_two
from forebay.placement.predictive import PredictiveSettings, predictive
from forebay.placement.prefix_affinity import PrefixAffinitySettings, prefix_affinity
from forebay.placement.profile import Profile


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a profile is made: the type of its settings, and the function that builds it from them.

    Every pool needs a profile of its own, since a picker may hold state.
    """

    settings: type[CommonSettings]
    build: Callable[[Any], Profile]


PROFILES: Mapping[str, Recipe] = {
    "multimodal": Recipe(MultimodalSettings, multimodal),
    "predictive": Recipe(PredictiveSettings, predictive),
    "round-robin": Recipe(RoundRobinSettings, round_robin),
    "least-request": Recipe(LeastRequestSettings, least_request),
    "queue-kv": Recipe(QueueKvSettings, queue_kv),
    "power-of-two": Recipe(PowerOfTwoSettings, power_of_two),
    "prefix-affinity": Recipe(PrefixAffinitySettings, prefix_affinity),
    "cache-aware": Recipe(CacheAwareSettings, cache_aware),
    "token-load-sticky": Recipe(TokenLoadStickySettings, token_load_sticky),
    "least-load": Recipe(LeastLoadSettings, least_load),
}
