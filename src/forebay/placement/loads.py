"""What "less loaded" may mean: the axis that profiles by load share."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from forebay.placement.protocols import Scorer
from forebay.placement.scorers.least_request import InFlight
from forebay.placement.scorers.open_requests import OpenRequests
from forebay.placement.scorers.open_tokens import OpenTokens

LoadName: TypeAlias = Literal["in-flight", "requests", "tokens"]

# Each is made for a trust in scrapes, in seconds; those that read no scrape need none.
LOADS: Mapping[LoadName, Callable[[float], Scorer]] = {
    "in-flight": lambda _trust: InFlight(),
    "requests": OpenRequests,
    "tokens": lambda _trust: OpenTokens(),
}
