"""What other balancers do, so that ours can be compared with them on equal terms."""

from forebay.domain.bounds import Weight
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.pickers.extreme import Highest, Least
from forebay.placement.pickers.turn import NextInOrder
from forebay.placement.profile import Profile
from forebay.placement.scales import least_is_one, neutral
from forebay.placement.scorers.least_request import InFlight
from forebay.placement.scorers.order import InOrder
from forebay.placement.scorers.queue_kv import FreeKv, PrefixMatch, QueueDepth
from forebay.placement.weighted import Weighted


class RoundRobinSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """Taking turns needs no parameters of its own."""


class LeastRequestSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """Counting requests needs no parameters of its own."""


class QueueKvSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """Weights of the four signals, each on 0..1. The defaults are the Gateway API endpoint picker's."""

    queue: Weight = 2.0
    kv: Weight = 2.0
    prefix: Weight = 3.0
    in_flight: Weight = 1.0


def round_robin(settings: RoundRobinSettings) -> Profile:
    """Next in order, as any proxy."""
    return Profile("round-robin", common_filters(settings), (Weighted(InOrder(), 1.0),), NextInOrder())


def least_request(settings: LeastRequestSettings) -> Profile:
    """Fewest own requests in flight, as Envoy and HAProxy over all endpoints."""
    return Profile("least-request", common_filters(settings), (Weighted(InFlight(), 1.0),), Least())


def queue_kv(settings: QueueKvSettings) -> Profile:
    """Scraped queue and KV usage, remembered prefixes and own requests in flight, summed; highest wins."""
    scorers = (
        Weighted(QueueDepth(), settings.queue, least_is_one),
        Weighted(FreeKv(), settings.kv, neutral),
        Weighted(PrefixMatch(), settings.prefix),
        Weighted(InFlight(least_wins=False), settings.in_flight, least_is_one),
    )
    return Profile("queue-kv", common_filters(settings), scorers, Highest())
