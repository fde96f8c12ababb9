"""The greedy oracle: it knows how long each answer will be, which no gateway does. Not a bound: greedy is not optimal."""

from collections.abc import Mapping, Sequence

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.cost import prompt_us
from forebay.placement.pickers.extreme import Least
from forebay.placement.profile import Profile
from forebay.placement.scorers.answer import prompt_share
from forebay.placement.steps import step_us, wait_us
from forebay.placement.weighted import Weighted
from forebay.simulator.visits import Visit

TRUST_US = 1e6


class Finish:
    """Seconds until the request is done there: the wait, its prompt, and its true answer, step by step."""

    name = "finish"
    unit = "seconds"
    least_wins = True

    def __init__(self, output_tokens: Mapping[str, int]) -> None:
        """`output_tokens` is the truth, by request."""
        self._output_tokens = output_tokens

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, > 0."""
        steps = self._output_tokens[ask.request.request_id] - 1
        step = step_us(e, e.kv_tokens + ask.prompt_tokens) / (1.0 - prompt_share(ask.at, e))
        return (wait_us(ask, e, TRUST_US) + prompt_us(ask, e) + steps * step) * 1e-6


def oracle(visits: Sequence[Visit]) -> Profile:
    """The profile, for these visits alone."""
    truth = {visit.request.request_id: visit.output_tokens for visit in visits}
    return Profile("oracle", common_filters(CommonSettings()), (Weighted(Finish(truth), 1.0),), Least())
