"""The `predictive` profile: what the request would cost itself and everyone else on each endpoint; least wins."""

from typing import Annotated

import msgspec

from forebay.domain.bounds import NotNegative, Positive
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.patience import Patience
from forebay.placement.pickers.extreme import Least
from forebay.placement.profile import Profile
from forebay.placement.scorers.affinity import Affinity
from forebay.placement.scorers.answer import AnswerTime
from forebay.placement.scorers.kv_balance import KvBalance, in_seconds
from forebay.placement.scorers.prompt import PromptWork
from forebay.placement.scorers.slack import FirstToken, behind
from forebay.placement.scorers.wait import Wait
from forebay.placement.weighted import Weighted
from forebay.placement.worth import size_worth, wait_worth

# Found on generated traces of seeds 11-13, apart from those that are reported; see docs/explanation/placement.md for what
# each term buys. An answer's own time and the stall put on others count in full; so the currency is seconds of answers.
OWN_PROMPT = 0.1
OWN_ANSWER = 1.0
AFFINITY = 12.0
SIZE_EXPONENT = 0.7

# The two ends of the knob: each is a policy that was measured, and what lies between is a straight line.
WAIT = (1.8, 1.0)
STALL = (1.0, 1.5)
KV_RELATIVE = (0.5, 0.25)
KV_LEVEL = (0.035, 0.0175)
SLACK = (1.8, 2.5)


class PredictiveSettings(CommonSettings, frozen=True, forbid_unknown_fields=True):
    """One trade-off, whether requests are bound late, and how far scrapes are trusted.

    `throughput`, 0..1: at 0 first tokens are quick and KV caches even; at 1 more is answered in the same time, for first
    tokens and caches that spread more. While even the shortest wait is longer than `patience` mean times to the first
    token, a request waits in the gateway, and is bound to an endpoint later; 0: never. `view_trust_seconds` is the age
    at which what was scraped of strangers' requests counts half: two scrapes of 500 ms.
    """

    throughput: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.0
    patience: NotNegative = 0.0
    view_trust_seconds: Positive = 1.0


def predictive(settings: PredictiveSettings) -> Profile:
    """What the request costs itself and everyone else there, in seconds of answers; least wins."""

    def at(ends: tuple[float, float]) -> float:
        return ends[0] + settings.throughput * (ends[1] - ends[0])

    trust_us = settings.view_trust_seconds * 1e6
    waiting = wait_worth(at(WAIT))
    balance = in_seconds(size_worth(SIZE_EXPONENT), at(KV_RELATIVE), at(KV_LEVEL))
    return Profile(
        name="predictive",
        filters=common_filters(settings),
        scorers=(
            Weighted(Wait(waiting, trust_us), 1.0),
            Weighted(PromptWork(waiting, OWN_PROMPT, at(STALL), trust_us), 1.0),
            Weighted(AnswerTime(), OWN_ANSWER),
            Weighted(Affinity(), AFFINITY),
            Weighted(KvBalance(trust_us), 1.0, balance),
            Weighted(FirstToken(trust_us), 1.0, behind(at(SLACK))),
        ),
        picker=Least(),
        patience=Patience(settings.patience, waiting) if settings.patience else None,
    )
