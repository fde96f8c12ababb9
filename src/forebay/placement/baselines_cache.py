"""What balancers that know of caches and tokens do, so that ours can be compared with them on equal terms.

Their formulas and their own defaults; none of them is meant to be better than it is.
"""

from typing import Annotated

import msgspec

from forebay.domain.bounds import NotNegative, Positive
from forebay.domain.facts import Ask, Quantity
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.pickers.extreme import Least
from forebay.placement.prefix_affinity import CROWDED
from forebay.placement.profile import Profile
from forebay.placement.scales import Scale
from forebay.placement.scorers.least_request import InFlight
from forebay.placement.scorers.prompt_left import PromptLeft
from forebay.placement.scorers.rivals import TokenLoad, TreeSize, UncachedTokens, Unstuck
from forebay.placement.weighted import Weighted

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class CacheAwareSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """SGLang's `cache_aware`: loads are unequal when they differ by more than `absolute` requests, and by `relative` times.

    `least_match` is the share of the prompt that must match.
    """

    absolute: NotNegative = 64.0
    relative: Positive = 1.5
    least_match: Share = 0.3


class TokenLoadStickySettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """llm-d's: a prompt of which `least_match` is cached sticks while tokens in flight take at most `most_seconds`."""

    least_match: Share = 0.8
    most_seconds: Positive = 1.0


class LeastLoadSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """Shepherd Model Gateway's: `kv_weight` x k / (1 - k) is added for KV usage k."""

    kv_weight: NotNegative = 0.15


def cache_aware(settings: CacheAwareSettings) -> Profile:
    """Fewest in flight while loads are unequal; else the longest match, else the smallest tree."""
    scorers = (
        Weighted(InFlight(), CROWDED, where_unequal(settings.absolute, settings.relative)),
        Weighted(PromptLeft(settings.least_match), 1.0),
        Weighted(TreeSize(), 1.0),
    )
    return Profile("cache-aware", common_filters(settings), scorers, Least())


def token_load_sticky(settings: TokenLoadStickySettings) -> Profile:
    """Where most of the prompt is cached, as long as that can take it; else the least uncached tokens in flight."""
    scorers = (
        Weighted(Unstuck(settings.least_match, settings.most_seconds), CROWDED),
        Weighted(UncachedTokens(), 1.0),
    )
    return Profile("token-load-sticky", common_filters(settings), scorers, Least())


def least_load(settings: LeastLoadSettings) -> Profile:
    """Tokens over throughput, and the fullness of the KV cache."""
    scorers = (Weighted(TokenLoad(settings.kv_weight), 1.0),)
    return Profile("least-load", common_filters(settings), scorers, Least())


def where_unequal(absolute: float, relative: float) -> Scale:
    """A scale: the loads while they are unequal, else 0 for all."""

    def unequal(loads: Quantity, _ask: Ask) -> Quantity:
        is_list = isinstance(loads, list)
        least = min(loads, default=0.0) if is_list else loads.min(initial=float("inf"))
        most = max(loads, default=0.0) if is_list else loads.max(initial=0.0)
        counts = most - least > absolute and most > relative * least
        return loads if counts else [0.0] * len(loads) if is_list else loads * 0.0

    return unequal
