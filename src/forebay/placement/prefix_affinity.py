"""The `prefix-affinity` profile: a request goes where its beginning is, as long as that endpoint is not crowded."""

from typing import Annotated

import msgspec

from forebay.domain.bounds import Count, Positive
from forebay.placement.bound import beyond_bound
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.pickers.extreme import Least
from forebay.placement.profile import Profile
from forebay.placement.scorers.home import Home
from forebay.placement.scorers.open_requests import OpenRequests
from forebay.placement.scorers.prompt_left import PromptLeft
from forebay.placement.weighted import Weighted

# The three terms decide one after the other. A prompt has under 1e9 tokens, so that none outweighs a request too many;
# tokens are whole, so that a share of one only parts the equal. 1e9 x 1e4 requests leave a float 9 bits of that share.
CROWDED = 1e9


class PrefixAffinitySettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """When affinity gives way to load, and the remembered prompt to the hash.

    `load_factor`: an endpoint takes requests by affinity until it holds this many times the mean; 1.25 bounds the worst
    load at 25 % over it, and is the least that HAProxy's manual calls reasonable. `always_requests` may be open there whatever
    the mean: on an idle pool the second request of a pair would else leave its prefix. `least_match`: the share of the
    prompt, 0..1, that must match for a remembered beginning to count, as in SGLang's router; shorter ones are the
    system prompt that every endpoint soon holds. `view_trust_seconds` is the age at which what was scraped of
    strangers' requests counts half: two scrapes of 500 ms.
    """

    load_factor: Annotated[float, msgspec.Meta(ge=1.0, le=100.0)] = 1.25
    always_requests: Count = 2
    least_match: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.3
    view_trust_seconds: Positive = 1.0


def prefix_affinity(settings: PrefixAffinitySettings) -> Profile:
    """Not crowded, then the longest remembered beginning, then nearest to home."""
    load = OpenRequests(settings.view_trust_seconds, "crowding")
    bound = beyond_bound(settings.load_factor, settings.always_requests)
    scorers = (
        Weighted(load, CROWDED, bound),
        Weighted(PromptLeft(settings.least_match), 1.0),
        Weighted(Home(load), 1.0),
    )
    return Profile("prefix-affinity", common_filters(settings), scorers, Least())
