"""The `power-of-two` profile: two endpoints at random, the less loaded one wins."""

from forebay.domain.bounds import Positive
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.loads import LOADS, LoadName
from forebay.placement.pickers.two import LessOfTwo
from forebay.placement.profile import Profile
from forebay.placement.weighted import Weighted


class PowerOfTwoSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """What load is: `in-flight` own requests, `requests` with strangers' too, or own `tokens` in the KV cache.

    `view_trust_seconds` is the age at which what was scraped of strangers' requests counts half: two scrapes of 500 ms.
    """

    load: LoadName = "in-flight"
    view_trust_seconds: Positive = 1.0


def power_of_two(settings: PowerOfTwoSettings) -> Profile:
    """The profile, as in Envoy and Ray Serve."""
    load = LOADS[settings.load](settings.view_trust_seconds)
    return Profile("power-of-two", common_filters(settings), (Weighted(load, 1.0),), LessOfTwo())
